import type { Clock } from '@tranche/clock'
import { type ConfigKind, type ConfigObject, COPY_LABEL, pinKey, pinnedObjects } from '@tranche/config'
import { createReflector, type KubeClient, type Reflector, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, KubeObject } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'

/** Versions of ConfigMaps and Secrets, from watches of their metadata in the namespaces that need it. */
export interface ConfigWatch {
  /** Watches from now on. */
  begin(): void
  end(): void
  /**
   * Text that differs when an object that the template names, or a copy of the DaemonSet, changes. The first call for a namespace starts its
   * watch.
   *
   * @returns null until the first list has arrived, and where objects may not be watched
   */
  versions(daemonSet: DaemonSet): string | null
}

/** Dependencies of {@link createConfigWatch}. */
export interface ConfigWatchParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  readonly seed: number
  /** Kinds of objects that the controller may copy in a namespace. */
  readonly kinds: (namespace: string) => readonly ConfigKind[]
  /** Called for each change of an object; `copyOf` is the uid of the DaemonSet whose copy it is. */
  readonly onChange: (namespace: string, object: ConfigObject, copyOf: string | undefined) => void
}

interface Version extends ConfigObject {
  readonly text: string
  readonly copyOf: string | undefined
}

type VersionReflector = Reflector<Version>

/** Creates the watches; none is open before the first call of `versions`. */
export function createConfigWatch(parts: ConfigWatchParts): ConfigWatch {
  const reflectors = new Map<string, readonly VersionReflector[]>()
  let running: AbortController | null = null
  const follow = (namespace: string, signal: AbortSignal): readonly VersionReflector[] => {
    const known = reflectors.get(namespace)
    if (known !== undefined) return known
    const created = parts.kinds(namespace).map((kind) => startReflector(parts, { kind, namespace }, signal))
    reflectors.set(namespace, created)
    return created
  }
  return {
    begin: () => void (running ??= new AbortController()),
    end() {
      running?.abort(new Error('the term has ended'))
      running = null
      reflectors.clear()
    },
    versions(daemonSet) {
      if (running === null) return null
      const { namespace = '', uid } = daemonSet.metadata
      const all = follow(namespace, running.signal)
      if (!all.every(({ synced }) => synced)) return null
      const copies = all.flatMap(({ store }) => store.byIndex('copyOf', uid))
      const named = pinnedObjects(daemonSet.spec.template).map((object) => {
        const store = all[parts.kinds(namespace).indexOf(object.kind)]?.store
        return `${pinKey(object)} ${store?.get({ namespace, name: object.name })?.text ?? ''}`
      })
      return JSON.stringify([named, copies.map((copy) => `${pinKey(copy)} ${copy.text}`).toSorted()])
    },
  }
}

/** @returns the path of a kind of config in the API */
export function configPath(kind: ConfigKind): ResourcePath {
  return kind === 'Secret' ? resourcePaths.secrets : resourcePaths.configMaps
}

interface Followed {
  readonly kind: ConfigKind
  readonly namespace: string
}

function startReflector(
  { client, clock, log, seed, onChange }: ConfigWatchParts,
  { kind, namespace }: Followed,
  signal: AbortSignal,
): VersionReflector {
  const ownLog = log.child({ namespace })
  const reflector = createReflector<Version>({
    ...{ client, clock, seed, log: ownLog },
    resource: configPath(kind),
    scope: { namespace, metadataOnly: true },
    transform: ({ metadata }: KubeObject) => ({
      kind,
      name: metadata.name,
      text: `${metadata.uid} ${metadata.resourceVersion}`,
      copyOf: metadata.labels?.[COPY_LABEL],
    }),
    indexers: { copyOf: ({ copyOf }) => copyOf },
  })
  reflector.subscribe({
    onChange(_key, previous, current) {
      const changed = current ?? previous
      if (changed !== undefined) onChange(namespace, changed, changed.copyOf)
    },
  })
  reflector.start(signal).catch((error: unknown) => ownLog.error({ err: error }, 'watch of config ended'))
  return reflector
}
