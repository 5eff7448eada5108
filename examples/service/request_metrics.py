"""Requests counted and timed, for Prometheus: a layer around the app."""

import time
from collections import Counter, defaultdict

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)  # seconds


class RequestMetrics:
    """Tells `counts` of every request: its path, its status, and how long it took."""

    def __init__(self, app, counts):
        self.app, self.counts = app, counts

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        status, began = 500, time.perf_counter()

        async def note_status(message):
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note_status)
        finally:
            self.counts.add(scope["path"], status, time.perf_counter() - began)


class RequestCounts:
    """What was counted; `paths` are told apart, whatever else somebody asks for is "other"."""

    def __init__(self, paths):
        self.paths, self.statuses = set(paths), Counter()
        self.seconds, self.within = defaultdict(float), defaultdict(Counter)

    def add(self, path, status, seconds):
        path = path if path in self.paths else "other"
        self.statuses[path, status] += 1
        self.seconds[path] += seconds
        self.within[path][next((bound for bound in BOUNDS if seconds <= bound), "+Inf")] += 1

    def prometheus(self):
        """A counter and a histogram in Prometheus's text format."""
        lines = ["# HELP service_requests_total Requests that were answered.", "# TYPE service_requests_total counter"]
        lines += [f'service_requests_total{{path="{path}",status="{status}"}} {count}'
                  for (path, status), count in sorted(self.statuses.items())]
        lines += ["# HELP service_request_seconds How long answers took.", "# TYPE service_request_seconds histogram"]
        for path, within in sorted(self.within.items()):
            so_far = 0
            for bound in (*BOUNDS, "+Inf"):
                so_far += within[bound]
                lines.append(f'service_request_seconds_bucket{{path="{path}",le="{bound}"}} {so_far}')
            lines += [f'service_request_seconds_sum{{path="{path}"}} {self.seconds[path]!r}',
                      f'service_request_seconds_count{{path="{path}"}} {so_far}']
        return "\n".join(lines) + "\n"
