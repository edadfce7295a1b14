"""The floor under every harness: an aiohttp loop that makes the same posts and keeps nothing.

usage: bare.py URL QUESTIONS.json CONCURRENCY [IMAGES]
"""

import asyncio
import base64
import json
import sys
from pathlib import Path

import aiohttp
import uvloop

JSON = {"content-type": "application/json"}
SUFFIX = "\nAnswer with the option's letter from the given choices directly."


async def main(url, path, concurrency, images):
    rows = iter(json.loads(Path(path).read_text()))
    got = []

    async def worker(session):
        for row in rows:
            text = json.dumps(row["question"] + SUFFIX)
            if images:  # joined as bytes: json.dumps of a picture would flatter whoever is compared
                picture = base64.b64encode((Path(images) / row["image"]).read_bytes())
                content = b'[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,'
                content += picture + b'"}},{"type":"text","text":' + text.encode() + b"}]"
            else:
                content = text.encode()
            body = b'{"model":"stub","messages":[{"role":"user","content":' + content
            body += b'}],"temperature":0.0,"max_tokens":2048}'
            async with session.post(url + "/chat/completions", data=body, headers=JSON) as response:
                reply = json.loads(await response.read())
                got.append(reply["choices"][0]["message"]["content"])

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(worker(session) for _ in range(concurrency)))
    print(len(got))


if __name__ == "__main__":
    images = sys.argv[4] if len(sys.argv) > 4 else None
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), images))
