#!/usr/bin/env python3
"""Runs llama.cpp's own HTTP server out of the PyPI wheel xllamacpp, as the other side of a comparison.

The wheel is built for any x86-64 with AVX2: where the cores have AVX-512 or AMX, build llama-server natively instead.
"""
import argparse
import importlib.metadata
import os
import signal
import sys
import threading


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--port", type=int, default=18790)
    parser.add_argument("--ctx", type=int, default=16384, help="tokens, of all slots together")
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--split", action="store_true", help="a window of its own for each slot, not one for all")
    parser.add_argument("--embedding", action="store_true", help="the model is one for embeddings")
    return parser.parse_args()


def parameters(xllamacpp, asked):
    params = xllamacpp.CommonParams()
    params.model.path = asked.model
    params.hostnames = ["127.0.0.1"]
    params.port = asked.port
    params.n_ctx = asked.ctx
    params.n_parallel = asked.slots
    params.kv_unified = not asked.split
    params.cpuparams.n_threads = asked.threads
    params.cpuparams_batch.n_threads = asked.threads
    params.n_gpu_layers = 0
    params.ui = False
    params.verbosity = 1
    if asked.embedding:
        params.embedding = True
        # A whole input must fit into one micro-batch.
        params.n_ubatch = params.n_batch
    return params


def main():
    asked = arguments()
    try:
        import xllamacpp
    except ImportError:
        sys.exit("xllamacpp is not installed; run: pip install xllamacpp")
    # Before the server starts threads of its own: they inherit which signals are blocked.
    ended = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: ended.set())
    server = xllamacpp.Server(parameters(xllamacpp, asked))
    print(f"{server.listening_address} with xllamacpp {importlib.metadata.version('xllamacpp')}", flush=True)
    print(xllamacpp.get_system_info(), flush=True)
    ended.wait()


if __name__ == "__main__":
    main()
