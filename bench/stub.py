"""An OpenAI-compatible endpoint that costs almost nothing: it counts, hashes and answers.

The reply is a letter taken from the hash of the request, so the same question always gets the
same answer, whoever asks and in whichever order; where a schema is asked for, it is a verdict.
`GET /count` says how many posts there were.

usage: stub.py PORT [--delay SECONDS]
"""

import argparse
import asyncio
import json
import zlib

import uvloop

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "

VERDICTS = [
    json.dumps({"verdict": yes, "answered": yes, "named": other, "score": score})
    for yes in (True, False)
    for other in (True, False)
    for score in range(1, 6)
]


class Stub(asyncio.Protocol):
    posts = 0
    delay = 0.0

    def connection_made(self, transport):
        self.transport, self.parts, self.need = transport, [], None

    def data_received(self, data):
        self.parts.append(data)
        size = sum(map(len, self.parts)) if self.need is None else self.size + len(data)
        self.size = size
        while True:
            if self.need is None:
                seen = b"".join(self.parts)
                self.parts = [seen]
                end = seen.find(b"\r\n\r\n")
                if end < 0:
                    return
                head = seen[:end].lower()
                at = head.find(b"content-length:")
                length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
                self.need, self.body_at, self.size = end + 4 + length, end + 4, len(seen)
            if self.size < self.need:
                return
            seen = b"".join(self.parts)
            request, rest = seen[: self.need], seen[self.need :]
            self.parts, self.need = [rest], None
            self.answer(request)
            if not rest:
                return

    def answer(self, request):
        if request.startswith(b"GET"):
            self.send(json.dumps({"posts": Stub.posts, "data": [{"id": "stub"}]}).encode())
            return
        Stub.posts += 1
        number = zlib.crc32(request[self.body_at :])
        content = f"The answer is {'ABCD'[number % 4]}."
        if b'"response_format"' in request:  # a judge, of whatever rubric
            content = VERDICTS[number % len(VERDICTS)]
        reply = {
            "id": "1",
            "object": "chat.completion",
            "model": "stub",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 60, "completion_tokens": 5, "total_tokens": 65},
        }
        body = json.dumps(reply).encode()
        if Stub.delay:
            asyncio.get_running_loop().call_later(Stub.delay, self.send, body)
        else:
            self.send(body)

    def send(self, body):
        if not self.transport.is_closing():
            self.transport.write(HEAD + str(len(body)).encode() + b"\r\n\r\n" + body)


async def main(port, delay):
    Stub.delay = delay
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--delay", type=float, default=0.0)
    given = parser.parse_args()
    uvloop.run(main(given.port, given.delay))
