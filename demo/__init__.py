"""The demo runtime: llama.cpp's own HTTP server and a real 135M model, both as wheels."""
