/** A download and its required hash. */
export interface PinnedFile {
  /** Name for people. */
  readonly label: string;
  readonly url: string;
  /** `sha512-` or `sha256-`, and the hash in base64. */
  readonly integrity: string;
  readonly downloadBytes: number;
}

/** The host of PyPI's files. */
export const PYPI_FILES = 'https://files.pythonhosted.org';
