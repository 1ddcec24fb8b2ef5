/** What is fetched from where, and what it must be. */
export interface PinnedFile {
  /** For people. */
  readonly label: string;
  readonly url: string;
  /** `sha512-` or `sha256-`, and the hash in base64. */
  readonly integrity: string;
  readonly downloadBytes: number;
}

/** The host of PyPI's files. */
export const PYPI_FILES = 'https://files.pythonhosted.org';
