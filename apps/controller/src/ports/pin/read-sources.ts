import { type ConfigContent, type ConfigKind, type ConfigObject, contentOf, pinKey, type SourceReading } from '@tranche/config'
import { isForbidden, isNotFound, type KubeClient } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { configPath } from './config-watch.ts'
import type { ConfigObjectOnWire } from './copy-on-wire.ts'
import { clientFor } from './secret-client.ts'

/** Characters of all objects of a template together: a process reads config for many DaemonSets, and any tenant may name large objects. */
export const MOST_CONTENT = 16 * 1024 * 1024

/** Number of objects that are read at a time. */
const AT_ONCE = 8

/**
 * Reads the objects that a template names, up to {@link MOST_CONTENT}.
 *
 * @returns the readings, by {@link pinKey}; objects beyond the limit are `unread`
 * @throws if the API server does not answer, or answers with an error other than 403 and 404
 */
export async function readSources(
  client: KubeClient,
  objects: readonly ConfigObject[],
  namespace: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, SourceReading>> {
  const sources = new Map<string, SourceReading>()
  let size = 0
  for (const group of groupsOf(objects)) {
    const isBeyond = size > MOST_CONTENT
    const readings = isBeyond ? [] : await Promise.all(group.map((object) => readSource(client, object, namespace, signal)))
    for (const [at, object] of group.entries()) {
      const reading = readings[at] ?? TOO_LARGE
      size += reading.kind === 'found' ? sizeOf(reading.source) : 0
      sources.set(pinKey(object), size > MOST_CONTENT ? TOO_LARGE : reading)
    }
  }
  return sources
}

const TOO_LARGE: SourceReading = {
  kind: 'unread',
  why: `it and the objects before it hold more than ${MOST_CONTENT / 1024 / 1024} MiB; name some by a hash`,
}

/** Objects that are read at a time, in order. */
export function groupsOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, at) => items.slice(at * AT_ONCE, (at + 1) * AT_ONCE))
}

/** Characters of a content. */
export function sizeOf({ data = {}, binaryData = {} }: ConfigContent): number {
  return [...Object.values(data), ...Object.values(binaryData)].reduce((sum, { length }) => sum + length, 0)
}

async function readSource(
  client: KubeClient,
  { kind, name }: ConfigObject,
  namespace: string,
  signal: AbortSignal,
): Promise<SourceReading> {
  try {
    const object = await getConfig(client, kind, { namespace, name }, signal)
    const { uid, resourceVersion } = object.metadata
    return { kind: 'found', source: { kind, name, uid, resourceVersion, ...contentOf(object) } }
  } catch (error) {
    signal.throwIfAborted()
    if (isNotFound(error)) return { kind: 'absent' }
    if (isForbidden(error)) return { kind: 'unread', why: missingRight('get', kind) }
    throw error
  }
}

/** @returns which right the controller lacks, and the value of the chart that grants it */
export function missingRight(verb: 'get' | 'list', kind: ConfigKind): string {
  const value = kind === 'Secret' ? 'rbac.pinSecretNamespaces' : 'rbac.configPin'
  return `the controller may not ${verb} ${configPath(kind).plural}; grant it the permissions of ${value}`
}

/** Reads a ConfigMap or Secret whole. */
export function getConfig(client: KubeClient, kind: ConfigKind, key: ObjectKey, signal: AbortSignal): Promise<ConfigObjectOnWire> {
  return clientFor(kind, client).get<ConfigObjectOnWire>(configPath(kind), key, { signal })
}

/** @returns undefined for an object that does not exist @throws any other error */
export function orUndefined(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
