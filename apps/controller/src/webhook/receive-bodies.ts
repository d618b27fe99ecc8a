import type { IncomingMessage } from 'node:http'

/** Reads the body of a request as UTF-8. @returns undefined if it is too large. @throws connection errors */
export type ReceiveBody = (request: IncomingMessage) => Promise<string | undefined>

/** Maximum size of a review, in bytes: two objects of the maximum size of an API server, plus the rest of the review. */
const LARGEST_REVIEW = 8 * 1024 * 1024
/** Maximum total size of unfinished bodies, in bytes. Reviews arrive within milliseconds, and few are larger than 100 KiB. */
const MOST_IN_TRANSFER = 32 * 1024 * 1024

/**
 * Bounds the memory of bodies in transfer, because the port does not authenticate clients. Above the maximum, the connection with the
 * oldest unfinished body is closed.
 */
export function receiveBodies(): ReceiveBody {
  /** Bytes of each body in transfer, oldest first. */
  const inTransfer = new Map<IncomingMessage, number>()
  let total = 0

  function add(request: IncomingMessage, bytes: number): void {
    inTransfer.set(request, (inTransfer.get(request) ?? 0) + bytes)
    total += bytes
    while (total > MOST_IN_TRANSFER) {
      const [oldest] = inTransfer.keys()
      if (oldest === undefined) return
      remove(oldest)
      oldest.destroy(new Error('unfinished request bodies exceed the memory limit'))
    }
  }

  function remove(request: IncomingMessage): void {
    total -= inTransfer.get(request) ?? 0
    inTransfer.delete(request)
  }

  return async (request) => {
    const chunks: Buffer[] = []
    let size = 0
    try {
      // Without destroyOnReturn, a partly read request can still be answered.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if ((size += chunk.length) > LARGEST_REVIEW) return undefined
        chunks.push(chunk)
        add(request, chunk.length)
      }
      return Buffer.concat(chunks).toString('utf8')
    } finally {
      remove(request)
    }
  }
}
