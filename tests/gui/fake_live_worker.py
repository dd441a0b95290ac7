"""In place of the child process of live mode: answers at once, with a body that rests, and loads nothing for it.

``SINEW_FAKE_HANDLES`` says how many handles the body has; what is drawn is that of the store's last real session.
"""

from __future__ import annotations

import base64
import json
import os
import sys


def main() -> None:
    """Serve commands until the input ends."""
    count = int(os.environ["SINEW_FAKE_HANDLES"])
    handles = base64.b64encode(bytes(96 * count)).decode()
    say({"event": "phase", "phase": "subspace", "done": 0, "total": 1})
    say({"event": "ready", "frame": 1, "modes": 1, "points": 1, "handles": handles})
    frame = 1
    for line in sys.stdin:
        if line.strip() == "stop":
            break
        asked = json.loads(line)["event"]
        frame = frame + 1 if asked == "advance" else 1
        if asked == "set_stiffness":
            say({"event": "stiffness", "stale": True})
        else:
            told = {"iterations": 1, "converged": True, "seconds": 0.001, "apart": 0.0, "recording": False}
            say({"event": "live", "frame": frame, "handles": handles, **told})
    say({"event": "stopped", "frame": None})


def say(event: dict) -> None:
    """One event as a line."""
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    main()
