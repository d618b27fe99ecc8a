import type { Clock } from '@tranche/clock'
import type { ConfigPort } from '@tranche/controllers'
import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { keyText, type KubeObject, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'

/** How long (ms) an answer is used: an immutable ConfigMap can be deleted and created again. */
const KNOWN_FOR_MS = 300_000
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
  readonly atMs: number
}

/** Reads ConfigMaps from the API server, each at most once in five minutes. Keeps nothing of a ConfigMap but whether it is immutable. */
export function createConfigPort({ client, clock, log }: ConfigPortParts): ConfigPort {
  const known = new Map<string, Answer>()

  async function isImmutable(key: ObjectKey, signal: AbortSignal): Promise<boolean> {
    const text = keyText(key)
    const answer = known.get(text)
    if (answer !== undefined && clock.monotonicMs() - answer.atMs < KNOWN_FOR_MS) return answer.isImmutable
    const read = await readConfigMap(key, signal)
    known.delete(text)
    known.set(text, { isImmutable: read, atMs: clock.monotonicMs() })
    for (const oldest of known.keys()) {
      if (known.size <= MOST_KNOWN) break
      known.delete(oldest)
    }
    return read
  }

  async function readConfigMap(key: ObjectKey, signal: AbortSignal): Promise<boolean> {
    try {
      const { immutable } = await client.get<ConfigMap>(resourcePaths.configMaps, key, { signal })
      return immutable === true
    } catch (error) {
      signal.throwIfAborted()
      // Judged by its name, as without the permission. A template may name a ConfigMap that does not exist yet.
      if (!isNotFound(error)) log.warn({ configMap: keyText(key), err: error }, 'could not read ConfigMap')
      return false
    }
  }

  return {
    async immutableOf(namespace, names, signal) {
      const read = names.map(async (name) => ({ name, is: await isImmutable({ namespace, name }, signal) }))
      return new Set((await Promise.all(read)).flatMap(({ name, is }) => (is ? [name] : [])))
    },
  }
}
