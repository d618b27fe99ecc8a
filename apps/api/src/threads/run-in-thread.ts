import { Worker } from 'node:worker_threads'

/** A thread that takes one input, posts one message as its answer, and exits. */
export interface ThreadWork {
  readonly file: URL
  /** Input of the thread (`workerData`). */
  readonly data: unknown
  /** Memory limit of the old generation, in MiB; {@link YOUNG_MEBIBYTES} come on top. */
  readonly mebibytes: number
  /** Terminates the thread. */
  readonly signal: AbortSignal
  /** Creates the error for a thread that runs out of memory. */
  readonly takesTooMuch: () => Error
}

/** Memory limit of the young generation of a thread, in MiB. */
const YOUNG_MEBIBYTES = 24

/** @returns the file of a thread beside the importing module: `.ts` in the source, `.mjs` in the bundle, where all files share one folder */
export function threadFile(name: string, importer: string): URL {
  return new URL(importer.endsWith('.ts') ? `./${name}.ts` : `./${name}.mjs`, importer)
}

/**
 * Runs work in its own thread, so that it does not block the event loop.
 *
 * @returns the answer of the thread
 * @throws the error of `takesTooMuch`; the signal's reason; errors of the thread
 */
export function runInThread<A>({ file, data, mebibytes, signal, takesTooMuch }: ThreadWork): Promise<A> {
  const resourceLimits = { maxOldGenerationSizeMb: mebibytes, maxYoungGenerationSizeMb: YOUNG_MEBIBYTES }
  const thread = new Worker(file, { workerData: data, resourceLimits })
  return new Promise<A>((resolve, reject) => {
    thread.once('message', resolve)
    thread.once('error', (error: Error & { readonly code?: string }) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? takesTooMuch() : error),
    )
    thread.once('exit', () => reject(new Error('the thread exited without an answer')))
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  }).finally(() => void thread.terminate())
}
