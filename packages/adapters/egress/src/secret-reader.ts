/** Reference to one key of a Secret. */
export interface SecretRef {
  readonly namespace: string
  readonly name: string
  readonly key: string
}

/** Reads Secrets on demand and caches none. */
export interface SecretReader {
  /**
   * Reads directly from the API server.
   *
   * @returns the text, or for a person why there is none and how to fix it, never any part of a value. Secrets that are not shared with
   *   policies count as missing.
   * @throws if the API server does not answer; callers must not repeat the message, which may quote the answer
   */
  read(ref: SecretRef, signal: AbortSignal): Promise<SecretAnswer>
}

/** @see SecretReader */
export type SecretAnswer =
  | { readonly kind: 'found'; readonly value: string }
  | { readonly kind: 'missing'; readonly message: string; readonly fix: string }
