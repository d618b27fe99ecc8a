import { Worker } from 'node:worker_threads'

/** A thread that is given one value, answers with one, and ends. */
export interface ThreadWork {
  readonly file: URL
  /** What it is given. */
  readonly data: unknown
  /** What it may keep in memory, beside {@link YOUNG_MEBIBYTES}. */
  readonly mebibytes: number
  /** Ends it. */
  readonly signal: AbortSignal
  /** Why there is no answer where it needs more memory. */
  readonly takesTooMuch: () => Error
}

/** What short-lived objects of a thread may take at a time. */
const YOUNG_MEBIBYTES = 24

/** @returns the file of a thread beside this module's importer: as source, or as it is bundled, where all files stand in one folder */
export function threadFile(name: string, importer: string): URL {
  return new URL(importer.endsWith('.ts') ? `./${name}.ts` : `./${name}.mjs`, importer)
}

/**
 * Does work in a thread of its own: whatever it takes, the server goes on answering.
 *
 * @returns what the thread answers
 * @throws what `takesTooMuch` makes; the signal's reason; what the thread throws
 */
export function runInThread<A>({ file, data, mebibytes, signal, takesTooMuch }: ThreadWork): Promise<A> {
  const resourceLimits = { maxOldGenerationSizeMb: mebibytes, maxYoungGenerationSizeMb: YOUNG_MEBIBYTES }
  const thread = new Worker(file, { workerData: data, resourceLimits })
  return new Promise<A>((resolve, reject) => {
    thread.once('message', resolve)
    thread.once('error', (error: Error & { readonly code?: string }) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? takesTooMuch() : error),
    )
    thread.once('exit', () => reject(new Error('a thread ended without an answer')))
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  }).finally(() => void thread.terminate())
}
