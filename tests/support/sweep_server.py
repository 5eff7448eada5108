"""As much of the W&B service as `wandb sweep` and `wandb agent` ask for, on loopback."""

import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import sweeps
import yaml


@dataclass
class Run:
    """A point that was given to an agent; its state is one of W&B's."""

    name: str
    agent: str
    config: dict
    state: str = "running"


class SweepServer:
    """Takes one sweep and hands out its runs to as many agents as ask; `asked` lists the operations in their order.

    W&B's own engine chooses the next point of a grid: one of which it knows no run, in whatever state that is. So W&B
    does not repeat a run that crashed unless somebody deletes it from the sweep, which is done here at once. A run
    has crashed if nothing is heard of its agent for a while.

    Args:
        num_runs: how many points are handed out; None for all.
        patience: seconds without a word of an agent, after which its run has crashed.
    """

    def __init__(self, num_runs=None, patience=60.0):
        self.num_runs, self.patience, self.sweep, self.asked = num_runs, patience, None, []
        self.runs, self.heard, self.lock = [], {}, threading.Lock()
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
        """The answer to a GraphQL operation; one after the other, since agents ask at the same time."""
        for name in ("UpsertSweep", "CreateAgent", "Heartbeat", "SweepWithRuns", "Viewer"):
            if name in query.split("(")[0] or f" {name}" in query:
                with self.lock:
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
        agent = f"agent{len(self.heard) + 1}"
        self.heard[agent] = time.monotonic()
        return {"createAgent": {"agent": {"id": agent}}}

    def heartbeat(self, variables):
        """A run, nothing while this agent or another one still runs, or the order to leave."""
        agent, running = variables["id"], json.loads(variables.get("runState") or "{}")
        self.heard[agent] = time.monotonic()
        for run in self.runs:
            if run.state == "running" and run.agent == agent and run.name not in running:
                run.state = "finished"
            elif run.state == "running" and time.monotonic() - self.heard[run.agent] > self.patience:
                run.state = "crashed"
        commands = [] if running else self.next_command(agent)
        return {"agentHeartbeat": {"agent": {"id": agent}, "commands": json.dumps(commands)}}

    def next_command(self, agent):
        known = [run for run in self.runs if run.state != "crashed"]  # those are deleted
        following = None
        if self.num_runs is None or len(known) < self.num_runs:
            runs = [sweeps.SweepRun(config=run.config, state=run.state) for run in known]
            following = sweeps.next_run(self.sweep, runs)
        if following is not None:
            run = Run(f"run{len(self.runs) + 1}", agent, following.config)
            self.runs.append(run)
            return [{"type": "run", "run_id": run.name, "program": self.sweep["program"], "args": run.config}]
        return [] if any(run.state == "running" for run in known) else [{"type": "exit"}]

    def close(self):
        self.http.shutdown()
