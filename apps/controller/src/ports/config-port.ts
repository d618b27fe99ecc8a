import type { Clock } from '@tranche/clock'
import type { ConfigPort } from '@tranche/controllers'
import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { keyText, type KubeObject, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'

/** How long (ms) an answer is used: an immutable ConfigMap can be deleted and created again. */
const KNOWN_FOR_MS = 300_000
/** How long (ms) no further attempt is made after a failed one. */
const FAILED_FOR_MS = 60_000
/** Maximum number of answers kept; the oldest one is dropped first. */
const MOST_KNOWN = 1_000

/** Dependencies of {@link createConfigPort}. */
export interface ConfigPortParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
}

/** The only field that is read; the API server has no way to ask for it alone. */
interface ConfigMap extends KubeObject {
  readonly immutable?: boolean
}

interface Answer {
  readonly isImmutable: boolean
  /** On the monotonic clock. */
  readonly untilMs: number
}

/** Reads ConfigMaps from the API server, each at most once in five minutes. Keeps nothing of a ConfigMap but whether it is immutable. */
export function createConfigPort({ client, clock, log }: ConfigPortParts): ConfigPort {
  const known = new Map<string, Answer>()

  async function answerOf(key: ObjectKey, signal: AbortSignal): Promise<Answer> {
    const text = keyText(key)
    const earlier = known.get(text)
    if (earlier !== undefined && clock.monotonicMs() < earlier.untilMs) return earlier
    const read = await readConfigMap(key, signal)
    const answer = { isImmutable: read === true, untilMs: clock.monotonicMs() + (read === 'failed' ? FAILED_FOR_MS : KNOWN_FOR_MS) }
    known.delete(text)
    known.set(text, answer)
    for (const oldest of known.keys()) {
      if (known.size <= MOST_KNOWN) break
      known.delete(oldest)
    }
    return answer
  }

  async function readConfigMap(key: ObjectKey, signal: AbortSignal): Promise<boolean | 'failed'> {
    try {
      const { immutable } = await client.get<ConfigMap>(resourcePaths.configMaps, key, { signal })
      return immutable === true
    } catch (error) {
      signal.throwIfAborted()
      // A template may name a ConfigMap that does not exist yet.
      if (isNotFound(error)) return false
      // Judged by its name, as without the permission.
      log.warn({ configMap: keyText(key), err: error }, 'could not read ConfigMap')
      return 'failed'
    }
  }

  return {
    async immutableOf(namespace, names, signal) {
      const read = await Promise.all(names.map(async (name) => ({ name, ...(await answerOf({ namespace, name }, signal)) })))
      return {
        immutable: new Set(read.flatMap(({ name, isImmutable }) => (isImmutable ? [name] : []))),
        recheckAfterMs: Math.max(1, Math.min(...read.map(({ untilMs }) => untilMs)) - clock.monotonicMs()),
      }
    },
  }
}
