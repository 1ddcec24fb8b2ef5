#!/usr/bin/env bash
# gpu.sh build | measure [options of the benchmark]: see bench/README.md, "A GPU".
# Lies beside load.tar.xz and bench/, which bench/gpu/pack.mjs makes. Needs no network.
#   OUT      where results go            (results beside this script)
#   WORK     programs and libraries      (work beside this script)
#   MODELS   models and the home folder  (below /dev/shm where it is large enough, else below WORK)
#   BACKEND  cuda or cpu                 (cuda)
#   ARCHS    CUDA's architectures        (native)
#   LIMIT_S  seconds for the compilation (400)
#   JOBS     compilations at a time      (all processors)
set -u
here=$(cd "$(dirname "$0")" && pwd)
OUT=${OUT:-$here/results} WORK=${WORK:-$here/work} BACKEND=${BACKEND:-cuda} ARCHS=${ARCHS:-native}
LIMIT_S=${LIMIT_S:-400} JOBS=${JOBS:-$(nproc)}
mkdir -p "$OUT" "$WORK"
say() { echo "[$(date +%T)] $*"; }

unpack() {
  [ -e "$WORK/load/.whole" ] || unpack_load
  mkdir -p "$WORK/load/hearth/bench" && cp "$here"/bench/*.js "$WORK/load/hearth/bench/"
}

unpack_load() {
  mkdir -p "$WORK/load"
  tar -x -J -f "$here/load.tar.xz" -C "$WORK/load" || python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/load.tar.xz" "$WORK/load" || exit 1
  chmod +x "$WORK/load/node" && touch "$WORK/load/.whole"
}

# Files that a toolkit or a driver brings, wherever it lies, found once.
index() {
  [ -s "$WORK/index" ] || timeout 60 find /usr /opt -maxdepth 10 \( -name 'libcuda.so.1' -o -name 'libcudart.so.1?' \
    -o -name 'libcublas*.so.1?' -o -name libvulkan.so.1 -o -name libGLX_nvidia.so.0 -o -name cublas_v2.h \
    -o -path '*/bin/nvcc' -o -path '*vulkan*icd*.json' \) -not -path '*/stubs/*' > "$WORK/index" 2> /dev/null
  nvcc=$(command -v nvcc || grep -m1 '/bin/nvcc$' "$WORK/index")
  [ -z "$nvcc" ] || toolkit=$(realpath "$("$nvcc" --dryrun -c any.cu 2>&1 | sed -n 's/^#\$ TOP=//p')")
}

# Where the linker finds it, or else where it lies.
library() {
  local found
  found=$(ldconfig -p 2> /dev/null | awk -v name="$1" '$1 == name { print $NF; exit }')
  [ -n "$found" ] || found=$(grep -m1 "/$1\$" "$WORK/index")
  echo "$found"
}

facts() {
  uname -a; nproc; free -g | head -2; df -h "$WORK" /dev/shm; getconf GNU_LIBC_VERSION
  grep -m1 'model name' /proc/cpuinfo
  command -v cmake ninja g++ gcc xz python3 setpriv; cmake --version | head -1; g++ --version | head -1
  nvidia-smi; ls /dev/nvidia* /dev/dri 2>&1; cat "$WORK/index"
  echo "nvcc: ${nvcc:-none}, toolkit: ${toolkit:-none}"; [ -n "${nvcc:-}" ] && "$nvcc" --version | tail -2
  for name in libcuda.so.1 libcudart.so.13 libcudart.so.12 libcublas.so.13 libcublasLt.so.13 libvulkan.so.1; do
    echo "$name: $(library $name)"
  done
  "$WORK/load/node" --version
}

# What CMake does not find by itself, such as a toolkit that came from PyPI: libraries without their short names.
cuda_options() {
  local major lib name file
  major=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  echo "-DGGML_CUDA=ON -DGGML_CUDA_NCCL=OFF -DGGML_CUDA_COMPRESSION_MODE=none -DCMAKE_CUDA_COMPILER=$nvcc -DCUDAToolkit_ROOT=$toolkit -DCMAKE_CUDA_ARCHITECTURES=$ARCHS"
  for name in cudart cublas cublasLt; do
    lib=$(ls "$toolkit"/{lib64,lib,targets/*/lib}/lib$name.so 2>/dev/null | head -1)
    file=$(library lib$name.so."$major")
    [ -n "$lib" ] || [ -z "$file" ] || echo "-DCUDA_${name}_LIBRARY=$file"
    [ -n "$lib" ] || [ $name != cudart ] || echo "-DCUDA_CUDART=$file"
  done
  file=$(library libcuda.so.1)
  [ -n "$(ls "$toolkit"/{lib64,lib,targets/*/lib}/stubs/libcuda.so 2>/dev/null)" ] || [ -z "$file" ] || echo "-DCUDA_cuda_driver_LIBRARY=$file"
}

# Workers get no LD_LIBRARY_PATH, so the build remembers where the toolkit's libraries lie.
library_folders() {
  local name
  for name in libcuda.so.1 libcudart.so.13 libcublas.so.13 libcudart.so.12 libcublas.so.12; do
    dirname "$(library $name)"
  done | grep -v '^\.$' | sort -u | paste -sd';'
}

build() {
  unpack
  index
  facts > "$OUT/facts.txt" 2>&1
  cat "$OUT/facts.txt"
  local options='' header
  if [ "$BACKEND" = cuda ]; then
    [ -n "${nvcc:-}" ] || { say "there is no nvcc"; exit 1; }
    options=$(cuda_options)
    header=$(ls "$toolkit"/{include,targets/*/include}/cublas_v2.h 2>/dev/null | head -1)
    [ -n "$header" ] || export CPATH=$(dirname "$(grep -m1 cublas_v2.h "$WORK/index")")
  fi
  say "configure: $options"
  local generator=()
  command -v ninja > /dev/null && generator=(-G Ninja)
  # shellcheck disable=SC2086
  cmake -S "$WORK/load/llama.cpp" -B "$WORK/build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
    -DGGML_OPENMP=OFF -DGGML_NATIVE=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF \
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined "-DCMAKE_INSTALL_RPATH=\$ORIGIN;$(library_folders)" $options > "$OUT/configure.log" 2>&1 \
    || { tail -40 "$OUT/configure.log"; exit 1; }
  say "compile with $JOBS jobs, at most $LIMIT_S s"
  local end=$((SECONDS + LIMIT_S)) target
  for target in llama llama-bench llama-server; do
    if timeout $((end - SECONDS > 1 ? end - SECONDS : 1)) cmake --build "$WORK/build" --target $target \
      --parallel "$JOBS" >> "$OUT/build.log" 2>&1; then
      say "$target is built"
    else
      say "$target is not built"
      tail -15 "$OUT/build.log"
    fi
  done
  keep
}

# For another machine of the same kind: put these files beside the script there, and it needs no compilation.
keep() {
  cd "$WORK/build/bin" || exit 1
  local name
  for name in lib*.so* llama-*; do [ ! -f "$name" ] || [ -L "$name" ] || strip "$name"; done
  ls -l
  tar -c -- * | xz -T0 -6 | split -b 15m -d - "$OUT/build.tar.xz."
  ls -l "$OUT"
}

restore() {
  [ -e "$WORK/build/bin/libllama.so" ] || [ ! -e "$here/build.tar.xz.00" ] && return
  mkdir -p "$WORK/build/bin"
  cat "$here"/build.tar.xz.* | tar -x -J -C "$WORK/build/bin"
}

# The linker's cache, until the next ldconfig: for drivers and toolkits that lie where nothing looks.
register() {
  local name file folders=()
  [ "$(id -u)" = 0 ] || return 0
  for name in libcuda.so.1 libcudart.so.13 libcublas.so.13 libvulkan.so.1 libGLX_nvidia.so.0; do
    ldconfig -p | grep -q "$name " && continue
    file=$(library $name)
    [ -n "$file" ] && folders+=("$(dirname "$file")")
  done
  [ ${#folders[@]} -eq 0 ] || { say "ldconfig ${folders[*]}"; ldconfig "${folders[@]}"; }
}

measure() {
  unpack
  restore
  index
  register
  local models=${MODELS:-} options=()
  if [ -z "$models" ]; then
    models=$WORK/models
    [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 40000000 ] && models=/dev/shm/hearth-gpu
  fi
  [ -e "$WORK/build/bin/libllama.so" ] && options+=(--library "$WORK/build/bin")
  [ -x "$WORK/build/bin/llama-bench" ] && options+=(--programs "$WORK/build/bin")
  cd "$WORK/load/hearth" && exec "$WORK/load/node" bench/gpu.js --out "$OUT" --work "$models" "${options[@]}" "$@" 2>> "$OUT/service.log"
}

case ${1:-} in
  build) build ;;
  measure) shift; measure "$@" ;;
  *) sed -n '2,10p' "$0"; exit 2 ;;
esac
