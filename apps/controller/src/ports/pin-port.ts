import {
  type ConfigCopy,
  type ConfigKind,
  contentOf,
  COPY_LABEL,
  copyName,
  type CopyOwner,
  type ExistingCopy,
  kindOfPin,
  OFFERED_CONFIG_ANNOTATION,
  parsePins,
  PINNED_CONFIG_ANNOTATION,
  pinKey,
  pinnedObjects,
  SOURCE_ANNOTATION,
  type SourceReading,
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
import { configPath, type ConfigWatch } from './config-watch.ts'
import { patchDaemonSet } from './patch-daemon-set.ts'
import { patchOrConflict } from './patch-or-conflict.ts'

/** Annotation on a copy that nothing names: its value is `true`. */
const UNUSED_ANNOTATION = 'tranche.dev/unused'
/** Annotation on a DaemonSet: a value that differs with each touch. */
const CONFIG_TOUCHED_ANNOTATION = 'tranche.dev/config-touched'

/** Dependencies of {@link createPinPort}. */
export interface PinPortParts {
  readonly client: KubeClient
  readonly watch: ConfigWatch
  /** Kinds of objects that the installation lets the controller copy. */
  readonly kinds: readonly ConfigKind[]
  /** A value that no process of this controller has given before. */
  readonly uniqueValue: () => string
  /** Learns the answers to writes of a DaemonSet, and the present one after a lost race. */
  readonly overlay: WatchedCluster['overlay']
}

/** A ConfigMap or Secret as the API server answers. */
interface ConfigObjectOnWire extends KubeObject {
  readonly type?: string
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

/** Implements the port of copies with the API server. */
export function createPinPort(parts: PinPortParts): PinPort {
  return new ApiPinPort(parts)
}

class ApiPinPort implements PinPort {
  readonly #parts: PinPortParts
  /** Names of copies that other objects have, by namespace and object. */
  readonly #taken = new Map<string, CopyAddress>()

  constructor(parts: PinPortParts) {
    this.#parts = parts
  }

  versions(daemonSet: DaemonSet): string | null {
    return this.#parts.watch.versions(daemonSet)
  }

  async read(daemonSet: DaemonSet, signal: AbortSignal): ReturnType<PinPort['read']> {
    const { kinds } = this.#parts
    const { namespace = '', name, uid, annotations = {}, generation } = daemonSet.metadata
    const objects = pinnedObjects(daemonSet.spec.template).filter(({ kind }) => kinds.includes(kind))
    const readings = objects.map(
      async (object) => [pinKey(object), await this.#readSource(object.kind, { namespace, name: object.name }, signal)] as const,
    )
    return {
      owner: { namespace, name, uid },
      kinds,
      template: daemonSet.spec.template,
      offered: annotations[OFFERED_CONFIG_ANNOTATION],
      sources: new Map(await Promise.all(readings)),
      copies: await this.#listCopies(daemonSet, signal),
      taken: await this.#stillTaken(namespace, signal),
      isObserved: daemonSet.status?.observedGeneration === generation,
    }
  }

  async createCopy(copy: ConfigCopy, signal: AbortSignal): Promise<void> {
    const { kind, metadata } = copy
    const { namespace, name, labels } = metadata
    const address = { kind, namespace, name, owner: labels[COPY_LABEL] ?? '' }
    try {
      await this.#parts.client.create(configPath(kind), copy as unknown as KubeObject, { signal })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      // The list of copies may have been read before another process created it.
      if (!(await this.#isFree(address, signal))) this.#taken.set(addressText(address), address)
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
    await patchOrConflict(this.#parts.client, configPath(kind), object, [...testsOf(object), change], { signal })
  }

  async pin(daemonSet: DaemonSet, { pins, offered, operations: more }: PinWrite, signal: AbortSignal): Promise<void> {
    const { namespace = '', uid, annotations } = daemonSet.metadata
    for (const [key, name] of parsePins(pins ?? '')) {
      const kind = kindOfPin(key)
      const object = await this.#parts.client.get<ConfigObjectOnWire>(configPath(kind), { namespace, name }, { signal }).catch(orUndefined)
      const copy = object === undefined ? null : toExistingCopy(kind, object, uid)
      if (copy === null || copy.isUnused)
        throw new AppError('WRITE_CONFLICT', `${kind} ${name} is gone or about to go, or is no copy of this DaemonSet`)
      if (!isNamedByContent(copy, daemonSet.metadata)) {
        const address = { kind, namespace, name, owner: uid } as const
        this.#taken.set(addressText(address), address)
        throw new AppError('WRITE_CONFLICT', `${kind} ${name} does not hold the content that its name stands for`)
      }
    }
    const ofTemplate = daemonSet.spec.template.metadata?.annotations
    const operations = [
      ...more,
      ...annotationsPatch('/metadata', annotations, { [OFFERED_CONFIG_ANNOTATION]: offered }),
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
      await this.#parts.client.delete(configPath(kind), key, { preconditions: { uid, resourceVersion }, signal })
    } catch (error) {
      if (isNotFound(error)) throw new AppError('WRITE_CONFLICT', `${kind} ${name} was deleted meanwhile`, { cause: error })
      throw error
    }
  }

  #patch(daemonSet: DaemonSet, operations: readonly JsonPatchOperation[], signal: AbortSignal): Promise<DaemonSet> {
    return patchDaemonSet(this.#parts, daemonSet, [...testsOf(daemonSet), ...operations], signal)
  }

  async #readSource(kind: ConfigKind, key: ObjectKey, signal: AbortSignal): Promise<SourceReading> {
    try {
      const object = await this.#parts.client.get<ConfigObjectOnWire>(configPath(kind), key, { signal })
      const { uid, resourceVersion } = object.metadata
      return { kind: 'found', source: { kind, name: key.name, uid, resourceVersion, ...contentOf(object) } }
    } catch (error) {
      signal.throwIfAborted()
      if (isNotFound(error)) return { kind: 'absent' }
      if (isForbidden(error))
        return { kind: 'unread', why: `the controller may not get ${configPath(kind).plural}; grant it the permissions of rbac.configPin` }
      throw error
    }
  }

  /** Whether the name belongs to a copy, or to no object. */
  async #isFree({ kind, namespace, name, owner }: CopyAddress, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#parts
    const found = await client.get<ConfigObjectOnWire>(configPath(kind), { namespace, name }, { signal }).catch(orUndefined)
    if (found === undefined) return true
    const copy = toExistingCopy(kind, found, owner)
    return copy !== null && isNamedByContent(copy, { namespace, name: '', uid: owner })
  }

  /** Template that a BatchRelease keeps because the history may lose it; undefined without one. */
  async #keptTemplate(release: ObjectKey, signal: AbortSignal): Promise<unknown> {
    const found = await this.#parts.client.get<BatchRelease>(resourcePaths.batchReleases, release, { signal }).catch(orUndefined)
    return found?.status?.stableTemplate?.template
  }

  /** A user may have deleted the object meanwhile. */
  async #stillTaken(namespace: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const still = new Set<string>()
    for (const [key, address] of this.#taken) {
      if (address.namespace !== namespace) continue
      if (await this.#isFree(address, signal)) this.#taken.delete(key)
      else still.add(pinKey(address))
    }
    return still
  }

  async #listCopies(daemonSet: DaemonSet, signal: AbortSignal): Promise<readonly ExistingCopy[]> {
    const { client, kinds } = this.#parts
    const { namespace = '', uid } = daemonSet.metadata
    const lists = kinds.map(async (kind) => {
      const { items } = await client.list<ConfigObjectOnWire>(configPath(kind), {
        namespace,
        labelSelector: `${COPY_LABEL}=${uid}`,
        signal,
      })
      return items.flatMap((object) => toExistingCopy(kind, object, uid) ?? [])
    })
    return (await Promise.all(lists)).flat()
  }
}

/** Name of a copy, and the uid of the DaemonSet that it belongs to. */
interface CopyAddress {
  readonly kind: ConfigKind
  readonly namespace: string
  readonly name: string
  readonly owner: string
}

function addressText({ kind, namespace, name }: CopyAddress): string {
  return `${namespace}/${pinKey({ kind, name })}`
}

/** @returns undefined for an object that does not exist @throws any other error */
function orUndefined(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** The name of the copy of a ConfigMap is a digest of its content, so another client cannot offer other content by that name. */
function isNamedByContent(copy: ExistingCopy, { namespace = '', name, uid }: DaemonSet['metadata'] | CopyOwner): boolean {
  if (copy.kind === 'Secret') return true
  const source = { kind: copy.kind, name: copy.source, uid: '', resourceVersion: '', ...contentOf(copy) }
  return copyName(source, { namespace, name, uid }) === copy.name
}

function testsOf({ metadata }: Pick<KubeObject, 'metadata'>): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
  ]
}

/** @returns the copy; null for an object that is no copy of the DaemonSet with the uid `owner`, or is being deleted */
function toExistingCopy(kind: ConfigKind, object: ConfigObjectOnWire, owner: string): ExistingCopy | null {
  const { name, uid, resourceVersion, annotations = {}, labels = {}, ownerReferences = [], deletionTimestamp } = object.metadata
  const source = annotations[SOURCE_ANNOTATION]
  const isOwned = labels[COPY_LABEL] === owner && ownerReferences.some((one) => one.uid === owner)
  if (!isOwned || source === undefined || object.immutable !== true || deletionTimestamp !== undefined) return null
  return { kind, name, uid, resourceVersion, source, isUnused: annotations[UNUSED_ANNOTATION] === 'true', ...contentOf(object) }
}

function annotationsPatch(
  metadata: string,
  before: Readonly<Record<string, string>> | undefined,
  added: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  if (before === undefined) return [{ op: 'add', path: `${metadata}/annotations`, value: added }]
  return Object.entries(added).map(([key, value]) => ({ op: 'add', path: `${metadata}/annotations${jsonPointer(key)}`, value }) as const)
}
