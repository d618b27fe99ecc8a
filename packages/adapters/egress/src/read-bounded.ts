import type { Semaphore } from '@tranche/connections'

/** Limits on reading a body. */
export interface Bounds {
  /** Maximum size; the rest of a longer body is not read. */
  readonly maxBytes: number
  /** Bytes that are read at once; a longer body waits for a slot of `semaphore`. */
  readonly freeBytes: number
  readonly semaphore: Pick<Semaphore, 'acquire'>
  readonly signal: AbortSignal
}

/**
 * Reads a body as UTF-8 text; invalid bytes become replacement characters.
 *
 * @returns the text; null if it has more than `maxBytes`
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
