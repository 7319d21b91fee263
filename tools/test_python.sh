#!/usr/bin/env bash
# Makes .venv, the Python of the tests, with NumPy and OpenCV, where that is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x .venv/bin/python ]; then
    python3 -m venv .venv
fi
.venv/bin/python -c 'import cv2, numpy' 2>/dev/null || .venv/bin/pip install -q numpy opencv-python-headless
