"""Writes both model cards and their pictures from the training logs and the evaluation reports.

    python cards.py --work DIR --out ../models --cards ../docs/models
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

import gguf

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "generators"))
from lookalikes import lookalikes

INK, GRID, BLUE, GREY, RED = "#333", "#ddd", "#2b6cb0", "#a0aec0", "#c53030"


def svg(width, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="12" fill="{INK}"><rect width="100%" height="100%" fill="#fff"/>{"".join(body)}</svg>\n')


def curve(title, rows, key):
    """A loss curve over steps; the vertical axis begins at zero."""
    points = [(r["step"], r[key]) for r in rows]
    last, top = points[-1][0], max(y for _, y in points) * 1.05
    x, y = (lambda v: 50 + 520 * v / last), (lambda v: 240 - 190 * v / top)
    body = [f'<text x="50" y="24" font-size="14">{title}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        body.append(f'<line x1="50" x2="570" y1="{y(top * share):.0f}" y2="{y(top * share):.0f}" stroke="{GRID}"/><text x="8" y="{y(top * share) + 4:.0f}">{top * share:.2f}</text>')
        body.append(f'<text x="{x(last * share) - 10:.0f}" y="260">{last * share:.0f}</text>')
    body.append(f'<polyline fill="none" stroke="{BLUE}" stroke-width="2" points="{" ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)}"/>')
    return svg(600, 280, body + ['<text x="290" y="276">step</text>'])


def bars(title, rows):
    """rows: (name, share, bar or None, reference or None)."""
    body = [f'<text x="10" y="24" font-size="14">{title}</text>']
    for i, (name, share, bar, reference) in enumerate(rows):
        at = 44 + 34 * i
        body.append(f'<text x="10" y="{at + 15}">{name}</text><rect x="270" y="{at}" width="{280 * share:.0f}" height="12" fill="{BLUE if bar is None or share >= bar else RED}"/>')
        body.append(f'<text x="{276 + 280 * share:.0f}" y="{at + 11}">{100 * share:.1f} %</text>')
        if reference is not None:
            body.append(f'<rect x="270" y="{at + 14}" width="{280 * reference:.0f}" height="6" fill="{GREY}"/>')
        if bar is not None:
            body.append(f'<line x1="{270 + 280 * bar:.0f}" x2="{270 + 280 * bar:.0f}" y1="{at - 4}" y2="{at + 22}" stroke="{INK}" stroke-dasharray="3 2"/>')
    return svg(640, 50 + 34 * len(rows), body)


def table(rows):
    lines = ["| task | cases | measured | bar |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {n} | {of} | {100 * s:.1f} % | {f'{100 * b:.0f} %' if b else '-'}{'' if not b or s >= b else ' (missed)'} |" for n, of, s, b in rows])


def log_of(folder):
    rows = {}  # a resumed run repeats the steps since its checkpoint; the later row counts
    for line in (folder / "log.jsonl").read_text().splitlines():
        row = json.loads(line)
        rows[row["step"]] = row
    return [rows[step] for step in sorted(rows)]


def weights_of(path):
    """How many there are, and the type of most of them."""
    counts = Counter()
    for tensor in gguf.GGUFReader(path).tensors:
        counts[tensor.tensor_type.name] += int(tensor.n_elements)
    return f"{counts.total() / 1e6:.1f}", counts.most_common(1)[0][0]


def facts(path):
    blob = path.read_bytes()
    return f"{len(blob) / 1e6:.1f} MB, SHA-256 `{hashlib.sha256(blob).hexdigest()}`"


def mini_card(work, out, cards):
    report = json.loads((work / "chat/report.json").read_text())
    config = json.loads((HERE / "chat_config.json").read_text())
    mini, log = out / "hearth-mini", log_of(work / "chat")
    rows = [(r["title"], r["of"], r["share"], r["bar"]) for r in report.values()]
    (cards / "hearth-mini-loss.svg").write_text(curve("hearth-mini: training loss (the mix changes with the stage)", log, "loss"))
    (cards / "hearth-mini-evaluation.svg").write_text(bars("hearth-mini: held-out cases (dashed: bar)", [(n, s, b, None) for n, _, s, b in rows]))
    text = (HERE / "cards/hearth-mini.md").read_text()
    values = {"FILE": facts(mini / "model.gguf"), "TABLE": table(rows), "STEPS": f"{log[-1]['step']:,}", "TOKENS": f"{log[-1]['tokens'] / 1e6:.0f}", "WEIGHTS": weights_of(mini / "model.gguf")[0], "NAMED": str(report["tools"].get("named", 0)),
              **{k.upper(): str(v) for k, v in config["shape"].items()}}
    (cards / "hearth-mini.md").write_text(fill(text, values))


def embed_card(work, out, cards):
    report = json.loads((work / "embed/report.json").read_text())
    config = json.loads((HERE / "embed_config.json").read_text())
    embed, log = out / "hearth-embed", log_of(work / "embed")
    bar = {"triplets": 0.8, "triplets-hard": 0.8, "triplets-words": 0.8, "retrieval": 0.75, "retrieval-hard": 0.75}
    names = [name for name in report if not name.startswith("first")] + [name for name in report if name.startswith("first")]

    def shown(row):  # a model of old was not asked everything
        if row is None:
            return "-"
        return f"{100 * row['share']:.1f} %" if "share" in row else f"{row['spearman']:.3f}"

    lines = [f"| task | cases | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    lines += [f"| {task} | {row['of']:,} | {' | '.join(shown(report[name].get(task)) for name in names)} |" for task, row in report["hearth-embed"].items()]
    (cards / "hearth-embed-loss.svg").write_text(curve("hearth-embed: contrastive loss", log, "contrast"))
    ours, reference = report["hearth-embed"], report["feature-hash"]
    (cards / "hearth-embed-evaluation.svg").write_text(bars("hearth-embed (blue) and feature hash (grey)", [(k, ours[k]["share"], b, reference[k]["share"]) for k, b in bar.items()]))
    count, quant = weights_of(embed / "model.gguf")
    values = {"FILE": facts(embed / "model.gguf"), "WEIGHTS": count, "QUANT": quant, "TABLE": "\n".join(lines), "STEPS": str(log[-1]["step"]),
              "LOOKALIKES": str(config["lookalikes"]), "TRIPLETS": str(config["triplets"]), "LINES": f"{len(lookalikes()):,}"}
    (cards / "hearth-embed.md").write_text(fill((HERE / "cards/hearth-embed.md").read_text(), values))


def fill(text, values):
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--cards", required=True)
    args = parser.parse_args()
    # A model whose run is not in the work folder keeps its card.
    for part, card in (("chat", mini_card), ("embed", embed_card)):
        if (Path(args.work) / part / "report.json").exists():
            card(Path(args.work), Path(args.out), Path(args.cards))


if __name__ == "__main__":
    main()
