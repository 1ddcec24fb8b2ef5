#!/usr/bin/env bash
# packaging/windows/build.sh SOURCE OUT: cross-compiles llama.cpp's CPU libraries for Windows x64 on Linux.
# Needs Debian's g++-mingw-w64-x86-64-posix, cmake and ninja-build. SOURCE is a checkout of llama.cpp; OUT gets the libraries
# and the compiler's own, which no Windows has. Copy OUT to Windows and run there: hearth library use OUT
#   JOBS  compilations at a time      (all processors)
#   CPU   flags of ggml               (AVX2, FMA, F16C, BMI2: processors since 2013)
set -eu
source=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$out/build
read -r -a cpu <<< "${CPU:--DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON}"
# mingw's headers before version 11 lack the thread power settings of later Windows.
windows=-D_WIN32_WINNT=0x0601
cmake -S "$source" -B "$work" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DBUILD_SHARED_LIBS=ON -DGGML_OPENMP=OFF -DGGML_NATIVE=OFF "${cpu[@]}" -DGGML_CCACHE=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF \
  -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF \
  -DCMAKE_C_FLAGS="$windows" -DCMAKE_CXX_FLAGS="$windows" -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--exclude-libs,ALL
cmake --build "$work" --target llama --parallel "${JOBS:-$(nproc)}"
cp "$work"/bin/*.dll "$out"
for runtime in libstdc++-6 libgcc_s_seh-1; do
  cp "$(x86_64-w64-mingw32-g++-posix -print-file-name=$runtime.dll)" "$out"
done
cp /usr/x86_64-w64-mingw32/lib/libwinpthread-1.dll "$out"
x86_64-w64-mingw32-strip "$out"/*.dll
ls -l "$out"
