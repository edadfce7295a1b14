"""The process llama.cpp's server runs in: it ends when its standard input does.

Run as a script, with the settings as JSON in its one argument. It prints the address it
listens on as one line, then waits. A crash in the native code ends this process only, and
whoever started it may be killed at any moment: its end of the pipe closes, and this ends too.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Start the server, say where, and wait for the pipe to close."""
    import xllamacpp

    settings = json.loads(sys.argv[1])
    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["name"]}
    params.n_ctx = settings["context"]
    params.n_parallel = settings["slots"]
    params.kv_unified = True  # any slot may use the whole context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.ui = False
    params.port = 0
    params.verbosity = 1  # errors
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # not through destructors: they wait for what is being generated


if __name__ == "__main__":
    main()
