"""What is here, and what the command `rung` measures and counts: dictionaries that notebooks show.
"""

from . import _rung


def escape(text):
    from html import escape as of_html  # a third of what importing this package would take
    return of_html(str(text))


def table(title, columns, rows):
    """An HTML table of texts."""
    def row(tag, cells):
        return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in cells) + "</tr>"
    return (f"<table><caption>{escape(title)}</caption><thead>{row('th', columns)}</thead><tbody>"
            + "".join(row("td", cells) for cells in rows) + "</tbody></table>")


class Ladder(list):
    """The rungs of an operation: dictionaries, each kind's from the simplest to the fastest."""

    def __init__(self, operation, rungs):
        super().__init__(rungs)
        self.operation = operation

    def _repr_html_(self):
        return table(self.operation, ("rung", "on", "order", "types", "idea", "runs here"),
                     [("* " * one["first"] + one["rung"], one["on"], one["order"], one["types"],
                       one["idea"], one["why_not"] or "yes") for one in self])


class Record(dict):
    """What the command said, its JSON as a dictionary."""

    def _repr_html_(self):
        rows = []
        for key, value in self.items():
            if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
                names = [name for name, one in value[0].items()
                         if not isinstance(one, (dict, list))]
                value = table(key, names, [[one.get(name, "") for name in names] for one in value])
                rows.append(f"<div>{value}</div>")
            else:
                rows.append(f"<div><b>{escape(key)}</b> {escape(value)}</div>")
        return "".join(rows)


class Devices(list):
    """The devices of this machine: dictionaries."""

    def _repr_html_(self):
        return table("devices", ("device", "name", "processors", "usable"),
                     [(one["device"], one["name"], one["processors"], one["why_not"] or "yes")
                      for one in self])


def devices():
    """The devices of this machine: the CPU, CUDA devices, the simulated GPU; what cannot be used
    says why. A list of dictionaries: device, kind, index, name, capability (90 is 9.0), processors,
    threads, isa, memory_bytes, cache_bytes, usable, why_not. This loads the code for GPUs.

    >>> import rung
    >>> rung.devices()[0]["device"]
    'cpu'
    """
    return Devices(_rung.devices())


def ladder(operation, device=None):
    """The rungs of an operation: each kind's from the simplest to the fastest.

    operation: "reduce", "scan", "histogram", "matmul", "stencil", "pairs"
    device:    of `rung.devices()`; None: what this installation has code for

    Returns a list of dictionaries: rung, idea, on ("cpu", "gpu"), order ("canonical": the same bits
    everywhere, "textbook", "fast"), types, hardware, capability, blocks, available, first (what is
    taken by default), why_not. ValueError: no such operation or device.

    >>> import rung
    >>> [one["rung"] for one in rung.ladder("reduce", "cpu") if one["first"]]
    ['threads']
    """
    return Ladder(operation, _rung.ladder(operation, device))


def _run(verb, operation, options):
    """What `rung VERB OPERATION --json` says, as text."""
    import shutil
    import subprocess
    command = shutil.which("rung")
    if command is None:
        raise _rung.Error(f"rung.{verb}() needs the command \"rung\"; expected: it, on PATH")
    words = [command, verb, str(operation), "--json", "--quiet"]
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif value not in (None, False):
            words.append(f"--{name}={value}")
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # 1: a check failed, which the record says.
    if done.returncode not in (0, 1) or not done.stdout.strip():
        kind = {2: ValueError, 5: MemoryError}.get(done.returncode, _rung.Error)
        raise kind(done.stderr.strip() or f"rung {verb} ended with {done.returncode}")
    return done.stdout


def _record_of(text):
    """The lines of a record (docs/RECORDS.md) as one dictionary: its jobs, each with its rungs."""
    import json
    record = Record()
    for line in map(json.loads, text.splitlines()):
        if "rung" in line:
            record["jobs"][-1]["rungs"].append(line)
        elif "operation" in line:
            record.setdefault("jobs", []).append({**line, "rungs": []})
        else:
            record.update(line)
    return record


def bench(operation, sizes=None, *, rung=None, blocks=None, device=None, threads=None, math=None,
          hot=False, peers=False, samples=None, seconds=None, launches=None, seed=None):
    """Times the rungs of an operation by the command `rung bench`, which verifies before and after.

    operation: "reduce" ...
    sizes:     the job, "n=1024 op=sum"; several parted by ";"
    rung:      only these, "lanes,threads"
    blocks, device, threads, math, hot, peers, samples, seconds (of each candidate), launches,
               seed: what `rung bench --help` says of them

    Returns the record, a dictionary: `jobs`, each with its `rungs` and their `samples_ms`, and what
    holds for all of them (docs/RECORDS.md). ValueError: what the command does not take; rung.Error: no
    command, or it failed.

    >>> record = rung.bench("reduce", "n=2^24 op=sum", device="cpu")  # doctest: +SKIP
    """
    return _record_of(_run("bench", operation,
                           {"sizes": sizes, "rung": rung, "blocks": blocks, "device": device,
                            "threads": threads, "math": math, "hot": hot, "peers": peers,
                            "samples": samples, "time-out": seconds, "launches": launches,
                            "seed": seed}))


def explain(operation, *, rung=None, against=None, size=None, device=None, block=None, type=None,
            seed=None):
    """Counts what GPU rungs do, access by access, on the simulated GPU (or, device="cuda", by a
    GPU's counters), by the command `rung explain`: sectors, bank conflicts, divergence.

    Returns a dictionary. ValueError: what the command does not take; rung.Error: no command, or it
    failed.

    >>> counts = rung.explain("reduce", rung="strided", against="sequential")  # doctest: +SKIP
    """
    import json
    return Record(json.loads(_run("explain", operation,
                                  {"rung": rung, "against": against, "size": size,
                                   "device": device, "block": block, "type": type, "seed": seed})))
