import type { Semaphore } from './semaphore.ts'

/** How much of a body is read. */
export interface Bounds {
  /** Of a longer one the rest is not read. */
  readonly maxBytes: number
  /** So much is read at once; who has more waits for one of `rooms`. */
  readonly freeBytes: number
  readonly semaphore: Semaphore
  readonly signal: AbortSignal
}

/**
 * Reads a body as UTF-8 text; bytes that are no text become replacement characters.
 *
 * @returns the text; null when there are more than `maxBytes`
 * @throws the signal's reason, and what the body throws
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, freeBytes, semaphore, signal }: Bounds,
): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  let leave: (() => void) | null = null
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) return null
      if (bytes > freeBytes) leave ??= await semaphore.acquire(signal)
      text += decoder.decode(chunk, { stream: true })
    }
    return text + decoder.decode()
  } finally {
    leave?.()
  }
}
