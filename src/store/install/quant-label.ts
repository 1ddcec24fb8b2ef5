import { modelStem } from './shards.ts';

export function quantLabel(fileName: string): string | null {
  const [, label] = /(?:^|[-.])([A-Za-z0-9_]+)$/.exec(modelStem(fileName)) ?? [];
  return label !== undefined && QUANT.test(label) ? label.toUpperCase() : null;
}

const QUANT = /^(?:(?:UD_)?I?Q\d\w*|TQ\d\w*|BF16|F16|F32|FP16|FP32|MXFP4\w*|NVFP4\w*)$/i;
