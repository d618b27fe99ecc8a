/** One key of a Secret. */
export interface SecretRef {
  readonly namespace: string
  readonly name: string
  readonly key: string
}

/** Reads secrets when they are needed, and keeps none. */
export interface SecretReader {
  /**
   * Reads from the API server itself.
   *
   * @returns its text, or why there is none and how to mend it, for a person: never anything of a value. Secrets that were
   *   not lent to policies are as good as missing
   * @throws when the API server does not answer; whoever catches it must not repeat its words, which may quote the answer
   */
  read(ref: SecretRef, signal: AbortSignal): Promise<SecretAnswer>
}

/** @see SecretReader */
export type SecretAnswer =
  | { readonly kind: 'found'; readonly value: string }
  | { readonly kind: 'missing'; readonly message: string; readonly fix: string }
