import {
  type ConfigContent,
  type ConfigCopy,
  type ConfigKind,
  contentOf,
  COPY_LABEL,
  type ExistingCopy,
  kindOfPin,
  OFFERED_CONFIG_ANNOTATION,
  parsePins,
  parseRecorded,
  PINNED_CONFIG_ANNOTATION,
  pinsOf,
  type PinView,
  RECORDED_COPIES_ANNOTATION,
  recordedText,
  type SourceReading,
  SOURCE_ANNOTATION,
} from '@tranche/config'
import type { BatchRelease } from '@tranche/api-schema'
import type { WatchedCluster } from '@tranche/cluster'
import type { PinPort, PinWrite } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import {
  isAlreadyExists,
  isForbidden,
  isNotFound,
  jsonPointer,
  type JsonPatchOperation,
  type KubeClient,
  resourcePaths,
} from '@tranche/kube-client'
import { type ControllerRevision, type DaemonSet, isOwnedBy, type KubeObject, type ObjectKey, type Pod } from '@tranche/kube-types'
import { plainTemplate } from '@tranche/planner'
import { patchDaemonSet } from '../patch-daemon-set.ts'
import { patchOrConflict } from '../patch-or-conflict.ts'
import { configPath, type ConfigWatch } from './config-watch.ts'
import { isGenuine, toReadCopy, UNUSED_ANNOTATION } from './copy-on-wire.ts'
import { readPinView } from './read-pin-view.ts'
import { getConfig, orUndefined } from './read-sources.ts'
import { clientFor } from './secret-client.ts'
import { createForeignNames } from './foreign-names.ts'

/** Annotation on a DaemonSet: a value that differs with each touch. */
const CONFIG_TOUCHED_ANNOTATION = 'tranche.dev/config-touched'

/** Dependencies of {@link createPinPort}. */
export interface PinPortParts {
  readonly client: KubeClient
  readonly watch: ConfigWatch
  /** Kinds of objects that the installation lets the controller copy in a namespace. */
  readonly kinds: (namespace: string) => readonly ConfigKind[]
  /** A value that no process of this controller has given before. */
  readonly uniqueValue: () => string
  /** A text that no other client can foresee. */
  readonly salt: () => string
  /** Learns the answers to writes of a DaemonSet, and the present one after a lost race. */
  readonly overlay: WatchedCluster['overlay']
}

/** Implements the port of copies with the API server. */
export function createPinPort(parts: PinPortParts): PinPort {
  return new ApiPinPort(parts)
}

class ApiPinPort implements PinPort {
  readonly #parts: PinPortParts
  readonly #taken

  constructor(parts: PinPortParts) {
    this.#parts = parts
    this.#taken = createForeignNames(parts.salt)
  }

  versions(daemonSet: DaemonSet): string | null {
    return this.#parts.watch.versions(daemonSet)
  }

  read(daemonSet: DaemonSet, revisions: PinView['revisions'], signal: AbortSignal): ReturnType<PinPort['read']> {
    const { client, kinds } = this.#parts
    const { namespace = '' } = daemonSet.metadata
    return readPinView({ client, kinds: kinds(namespace), taken: this.#taken }, { daemonSet, revisions }, signal)
  }

  async createCopy(copy: ConfigCopy, signal: AbortSignal): Promise<void> {
    const { client } = this.#parts
    const { kind, metadata } = copy
    try {
      await clientFor(kind, client).create(configPath(kind), copy as unknown as KubeObject, { signal })
    } catch (error) {
      if (isForbidden(error)) throw notCreated(copy, error)
      if (!isAlreadyExists(error)) throw error
      // The list of copies may have been read before another process created it.
      const found = await getConfig(client, kind, metadata, signal).catch(orUndefined)
      const { [COPY_LABEL]: uid = '' } = metadata.labels
      const { [SOURCE_ANNOTATION]: name = '' } = metadata.annotations
      const read = found === undefined ? null : toReadCopy(kind, found, uid)
      const isOurs = read !== null && isGenuine(read, { object: { kind, name }, owner: { uid }, content: contentOf(copy) })
      if (found !== undefined && !isOurs) this.#taken.add({ kind, ...metadata })
    }
  }

  async mark(
    { metadata }: DaemonSet,
    { kind, name, uid, resourceVersion }: ExistingCopy,
    isUnused: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const path = jsonPointer('metadata', 'annotations', UNUSED_ANNOTATION)
    const change = isUnused ? ({ op: 'add', path, value: 'true' } as const) : ({ op: 'remove', path } as const)
    const object = { metadata: { namespace: metadata.namespace ?? '', name, uid, resourceVersion } }
    await patchOrConflict(clientFor(kind, this.#parts.client), configPath(kind), object, [...testsOf(object), change], { signal })
  }

  async pin(daemonSet: DaemonSet, { pins, offered, recorded, sources, operations: more }: PinWrite, signal: AbortSignal): Promise<void> {
    const verified: string[] = []
    for (const [key, name] of parsePins(pins ?? ''))
      verified.push(await this.#verify(daemonSet, { key, name, reading: sources.get(key) }, signal))
    const own = { [OFFERED_CONFIG_ANNOTATION]: offered, [RECORDED_COPIES_ANNOTATION]: recordedText([...recorded, ...verified]) }
    const ofTemplate = daemonSet.spec.template.metadata?.annotations
    const operations = [
      ...more,
      ...annotationsPatch('/metadata', daemonSet.metadata.annotations, own),
      ...(pins === null ? [] : annotationsPatch('/spec/template/metadata', ofTemplate, { [PINNED_CONFIG_ANNOTATION]: pins })),
    ]
    await this.#patch(daemonSet, operations, signal)
  }

  async touch(daemonSet: DaemonSet, release: string, signal: AbortSignal): ReturnType<PinPort['touch']> {
    const { client, uniqueValue } = this.#parts
    const { namespace = '', annotations } = daemonSet.metadata
    const operations = annotationsPatch('/metadata', annotations, { [CONFIG_TOUCHED_ANNOTATION]: uniqueValue() })
    const touched = await this.#patch(daemonSet, operations, signal)
    const [revisions, pods, kept] = await Promise.all([
      client.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace, signal }),
      client.list<Pod>(resourcePaths.pods, { namespace, metadataOnly: true, signal }),
      this.#keptTemplate({ namespace, name: release }, signal),
    ])
    return {
      template: touched.spec.template,
      offered: touched.metadata.annotations?.[OFFERED_CONFIG_ANNOTATION],
      revisions: [...revisions.items.filter((one) => isOwnedBy(one, touched)).map(plainTemplate), kept],
      pods: pods.items.filter((pod) => isOwnedBy(pod, touched)),
      isObserved: touched.status?.observedGeneration === touched.metadata.generation,
    }
  }

  async deleteCopy({ metadata }: DaemonSet, { kind, name, uid, resourceVersion }: ExistingCopy, signal: AbortSignal): Promise<void> {
    const key = { namespace: metadata.namespace ?? '', name }
    try {
      await clientFor(kind, this.#parts.client).delete(configPath(kind), key, { preconditions: { uid, resourceVersion }, signal })
    } catch (error) {
      if (isNotFound(error)) throw new AppError('WRITE_CONFLICT', `${kind} ${name} was deleted meanwhile`, { cause: error })
      throw error
    }
  }

  #patch(daemonSet: DaemonSet, operations: readonly JsonPatchOperation[], signal: AbortSignal): Promise<DaemonSet> {
    return patchDaemonSet(this.#parts, daemonSet, [...testsOf(daemonSet), ...operations], signal)
  }

  /**
   * @returns the uid of a copy that the template will name
   * @throws {AppError} WRITE_CONFLICT if it is not there as it should be
   */
  async #verify({ metadata, spec }: DaemonSet, { key, name, reading }: Named, signal: AbortSignal): Promise<string> {
    const { namespace = '', uid } = metadata
    const kind = kindOfPin(key)
    const object = { kind, name: key.slice(kind.length + 1) }
    const found = await getConfig(this.#parts.client, kind, { namespace, name }, signal).catch(orUndefined)
    if (found === undefined) throw new AppError('WRITE_CONFLICT', `${kind} ${name} is gone`)
    const copy = toReadCopy(kind, found, uid)
    const recorded = parseRecorded(metadata.annotations?.[RECORDED_COPIES_ANNOTATION])
    const isKept = pinsOf(spec.template).get(key) === name
    // An earlier version of Tranche recorded nothing.
    const isProven = isKept && (recorded === undefined || recorded.has(found.metadata.uid))
    const content = isProven ? copy?.content : contentIn(reading)
    if (copy === null || !isGenuine(copy, { object, owner: metadata, content })) {
      this.#taken.add({ kind, namespace, name })
      throw new AppError('WRITE_CONFLICT', `${kind} ${name} is no copy of ${object.name} that this DaemonSet can use`)
    }
    if (copy.isUnused) throw new AppError('WRITE_CONFLICT', `${kind} ${name} is about to be deleted`)
    return copy.uid
  }

  /** Template that a BatchRelease keeps because the history may lose it; undefined without one. */
  async #keptTemplate(release: ObjectKey, signal: AbortSignal): Promise<unknown> {
    const found = await this.#parts.client.get<BatchRelease>(resourcePaths.batchReleases, release, { signal }).catch(orUndefined)
    return found?.status?.stableTemplate?.template
  }
}

/** A copy that a template will name. */
interface Named {
  /** Key of its object. */
  readonly key: string
  readonly name: string
  /** How its object was read. */
  readonly reading: SourceReading | undefined
}

/** The API server refuses an object beyond a quota in the same way as one without the right. */
function notCreated({ kind, metadata: { namespace } }: ConfigCopy, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const { plural } = configPath(kind)
  const value = kind === 'Secret' ? 'rbac.pinSecretNamespaces' : 'rbac.configPin'
  const fix = `raise the ResourceQuota for ${plural} of namespace ${namespace}, or grant the controller the permissions of ${value}`
  return new AppError('API_REFUSED', `${why}: ${fix}`, { cause })
}

function contentIn(reading: SourceReading | undefined): ConfigContent | undefined {
  return reading?.kind === 'found' ? contentOf(reading.source) : undefined
}

function testsOf({ metadata }: Pick<KubeObject, 'metadata'>): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
  ]
}

function annotationsPatch(
  metadata: string,
  before: Readonly<Record<string, string>> | undefined,
  added: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  if (before === undefined) return [{ op: 'add', path: `${metadata}/annotations`, value: added }]
  return Object.entries(added).map(([key, value]) => ({ op: 'add', path: `${metadata}/annotations${jsonPointer(key)}`, value }) as const)
}
