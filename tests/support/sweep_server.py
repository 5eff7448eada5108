"""As much of the W&B service as `wandb sweep` and `wandb agent` ask for, on loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import sweeps
import yaml


class SweepServer:
    """Takes one sweep and hands out its first runs; `asked` lists the operations in their order."""

    def __init__(self, num_runs):
        self.num_runs, self.sweep, self.given, self.asked = num_runs, None, [], []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
                self.answer(server.respond(body.get("query", ""), body.get("variables") or {}))

            def do_GET(self):
                self.answer({})

            def answer(self, content):
                content = json.dumps(content).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                """Quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}"

    def respond(self, query, variables):
        """The answer to a GraphQL operation."""
        for name in ("UpsertSweep", "CreateAgent", "Heartbeat", "SweepWithRuns", "Viewer"):
            if name in query.split("(")[0] or f" {name}" in query:
                self.asked.append(name)
                return {"data": getattr(self, name.lower())(variables)}
        self.asked.append(query.strip().split("(")[0][:60])
        return {"data": {}}

    def viewer(self, variables):
        return {"viewer": {"id": "user", "entity": "team", "username": "user", "flags": "{}", "teams": {"edges": []}}}

    def upsertsweep(self, variables):
        self.sweep = yaml.safe_load(variables["config"])
        project = {"id": "project", "name": "aranyani_tf", "entity": {"id": "team", "name": "team"}}
        return {"upsertSweep": {"sweep": {"name": "sweep1", "project": project}, "configValidationWarnings": []}}

    def sweepwithruns(self, variables):
        return {"project": {"sweep": {
            "id": "sweep1", "name": "sweep1", "state": "RUNNING", "method": "grid", "description": "",
            "config": yaml.safe_dump(self.sweep), "createdAt": "2026-01-01T00:00:00", "heartbeatAt": None,
            "updatedAt": None, "earlyStopJobRunning": False, "controller": None, "scheduler": None,
            "runs": {"edges": []}}}}

    def createagent(self, variables):
        return {"createAgent": {"agent": {"id": "agent1"}}}

    def heartbeat(self, variables):
        """The next run as W&B's own engine chooses it, or the order to leave."""
        runs = [sweeps.SweepRun(config=run, state="finished") for run in self.given]
        following = sweeps.next_run(self.sweep, runs) if len(self.given) < self.num_runs else None
        if json.loads(variables.get("runState") or "{}"):
            return {"agentHeartbeat": {"agent": {"id": "agent1"}, "commands": "[]"}}  # one after the other
        if following is None:
            command = {"type": "exit"}
        else:
            self.given.append(following.config)
            command = {"type": "run", "run_id": f"run{len(self.given)}", "program": self.sweep["program"],
                       "args": following.config}
        return {"agentHeartbeat": {"agent": {"id": "agent1"}, "commands": json.dumps([command])}}

    def close(self):
        self.http.shutdown()
