export interface PinnedFile {
  readonly label: string;
  readonly url: string;
  /** `sha512-` or `sha256-`, then the hash in base64. */
  readonly integrity: string;
  readonly downloadBytes: number;
}

export const PYPI_FILES = 'https://files.pythonhosted.org';
