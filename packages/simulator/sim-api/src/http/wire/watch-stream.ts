import { ConnectionCutError, type WatchFrame, type WatchSink } from '../../model/request.ts'

/** Frames of a watch as text chunks: a sink on one side, an iterable on the other. Settles by promises alone. */
export interface WatchStream {
  readonly sink: WatchSink
  /** Chunks of newline-delimited JSON, each with all waiting frames. Leaving the iteration early ends the stream. */
  readonly chunks: AsyncIterable<string>
  /** Ends the stream from outside; with an error, the iteration throws it. */
  end(error?: Error): void
  /** Calls back once when the stream ends; immediately if it has ended. */
  onEnd(callback: () => void): void
}

/** Maximum backlog of a reader in characters; beyond it the stream is cut off, and the reader has to list again. */
const longestBacklog = 64 * 1024 * 1024

/** @param toText converts a frame to a line with its newline */
export function createWatchStream(toText: (frame: WatchFrame) => string): WatchStream {
  let waiting = ''
  let onEnd: (() => void) | undefined
  let ending: { readonly error: Error | undefined } | undefined
  let wake: (() => void) | undefined
  const end = (error?: Error): void => {
    if (ending !== undefined) return
    ending = { error }
    wake?.()
    onEnd?.()
  }
  const sink: WatchSink = {
    frame(frame) {
      if (ending !== undefined) return
      try {
        waiting += toText(frame)
      } catch (error) {
        return end(error as Error) // the sender of frames cannot handle errors
      }
      if (waiting.length > longestBacklog) end(new ConnectionCutError())
      else wake?.()
    },
    end: (how) => end(how === 'cut' ? new ConnectionCutError() : undefined),
  }
  async function* chunks(): AsyncGenerator<string, void> {
    try {
      for (;;) {
        if (waiting !== '' && ending?.error === undefined) {
          const chunk = waiting
          waiting = ''
          yield chunk
        } else if (ending !== undefined) {
          if (ending.error !== undefined) throw ending.error
          return
        } else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      end()
    }
  }
  return {
    sink,
    chunks: chunksThatStop(chunks(), end),
    end,
    onEnd(callback) {
      if (ending === undefined) onEnd = callback
      else callback()
    },
  }
}

/** A generator that waits for a frame does not notice `return()`; ending the stream first wakes it. */
function chunksThatStop(chunks: AsyncGenerator<string, void>, end: () => void): AsyncIterable<string> {
  const iterator: AsyncIterator<string> = {
    next: () => chunks.next(),
    return: () => {
      end()
      return chunks.return()
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
