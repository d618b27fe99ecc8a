import {
  type Breach,
  type FailedRequest,
  judge,
  type JudgeQuery,
  type RecordedDelivery,
  type RecordedGuarantee,
  type RecordedWrite,
  type Recording,
} from '@tranche/recording'
import { expect, it } from 'vitest'

/** Fields of an object, or of a line. */
export type Fields = Readonly<Record<string, unknown>>

/** A recording written by hand: every call is one write (or delivery), one millisecond after the last. */
export class Script {
  readonly #writes: RecordedWrite[] = []
  readonly #deliveries: RecordedDelivery[] = []
  readonly #objects = new Map<string, Fields>()
  readonly #versions = new Map<string, number>()
  readonly #failures: FailedRequest[] = []
  #t = 1_000_000

  /** Now, in epoch milliseconds. */
  get nowMs(): number {
    return this.#t
  }

  /** Version of the last write. */
  get rv(): number {
    return 100 + this.#writes.length
  }

  wait(ms: number): this {
    this.#t += ms
    return this
  }

  node(name: string, fields: Fields = {}, options: Fields = {}): this {
    const o = { name, labels: {}, taints: [], ready: 'True', ...fields }
    return this.#write('Node', name, o, { actor: 'kubelet', verb: 'update', node: name, ...options })
  }

  removeNode(name: string): this {
    return this.#write('Node', name, {}, { actor: 'user', verb: 'delete', type: 'DELETED' })
  }

  /** The first letter of the uid is the node, unless `fields` say another. */
  pod(uid: string, fields: Fields = {}): this {
    const known = this.#objects.get(`Pod ${uid}`) ?? {
      phase: 'Running',
      ready: true,
      deleting: false,
      hash: 'v1',
      created: '2026-01-01T00:00:00Z',
    }
    const o = { name: `agent-${uid}`, uid, owner: 'agent', ownerUid: 'ds-1', node: uid[0], ...known, ...fields }
    return this.#write('Pod', uid, o, { actor: 'kubelet', verb: 'patch' })
  }

  /** A pod that requests something and is not the DaemonSet's: on node a, unless `fields` say another. */
  other(fields: Fields = {}, options: Fields = {}): this {
    const known = this.#objects.get('Pod other') ?? {
      phase: 'Running',
      ready: true,
      deleting: false,
      bound: true,
      requests: true,
      node: 'a',
    }
    return this.#write(
      'Pod',
      'other',
      { name: 'other', uid: 'other', ...known, ...fields },
      { actor: 'kubelet', verb: 'patch', ...options },
    )
  }

  /** Takes or renews the Lease of a node now, for one minute; null: the Lease is deleted. @param aheadMs of the API server's clock */
  lease(node: string, holder: string | null, options: Fields = {}, aheadMs = 0): this {
    const key = { namespace: 'medik8s-leases', verb: 'patch', actor: holder?.startsWith('tranche/') === true ? 'executor-1' : 'user' }
    const renewTime = new Date(this.#t + 1 + aheadMs).toISOString()
    const spec = { holderIdentity: holder ?? undefined, renewTime, leaseDurationSeconds: 60 }
    const known = this.#objects.get(`Lease node-${node}`)
    const o = holder === null && known !== undefined ? known : { metadata: { name: `node-${node}` }, spec }
    return this.#write('Lease', `node-${node}`, o, { ...key, ...(holder === null && { type: 'DELETED' }), ...options })
  }

  /** Another actor deletes the pod. */
  gone(uid: string, actor = 'user'): this {
    return this.#write('Pod', uid, { deleting: true, ready: false }, { actor, verb: 'delete', type: 'DELETED' })
  }

  /** We delete the current version of the pod. */
  del(uid: string, fields: Fields = {}): this {
    const preconditions = { uid, resourceVersion: String(this.#versions.get(`Pod ${uid}`) ?? 0) }
    return this.#write('Pod', uid, { deleting: true, ready: false }, { actor: 'executor-1', verb: 'delete', preconditions, ...fields })
  }

  /** The pod that we deleted disappears, and another one replaces it: `a1` → `a1'`. */
  replace(uid: string, fields: Fields = {}): this {
    return this.gone(uid, 'kubelet').pod(`${uid}'`, { hash: 'v2', ...fields })
  }

  daemonSet(fields: Fields, actor = 'user', options: Fields = {}): this {
    return this.#write(
      'DaemonSet',
      String(fields['name'] ?? 'agent'),
      { name: 'agent', uid: 'ds-1', ...fields },
      { actor, verb: 'patch', ...options },
    )
  }

  /** Changes annotations; undefined takes one away. */
  annotate(annotations: Fields, actor = 'controller-1'): this {
    const before = (this.#objects.get('DaemonSet agent')?.['annotations'] ?? {}) as Fields
    const merged = Object.fromEntries(Object.entries({ ...before, ...annotations }).filter(([, value]) => value !== undefined))
    return this.daemonSet({ annotations: merged }, actor)
  }

  revision(hash: string, template: string, fields: Fields = {}): this {
    return this.#write(
      'ControllerRevision',
      hash,
      { name: hash, hash, template, ownerUid: 'ds-1', ...fields },
      { actor: 'daemonset-controller', verb: 'create', uid: hash },
    )
  }

  /** Writes a ConfigMap with this content; null deletes it. */
  configMap(name: string, content: string | null, fields: Fields = {}, actor = 'user'): this {
    const type = content === null ? { type: 'DELETED', verb: 'delete' } : { verb: 'update' }
    return this.#write('ConfigMap', name, { metadata: { name }, data: { content }, ...fields }, { actor, ...type })
  }

  /** Writes a Secret; null deletes it. */
  secret(name: string, content: string | null, fields: Fields = {}, actor = 'user'): this {
    const type = content === null ? { type: 'DELETED', verb: 'delete' } : { verb: 'update' }
    return this.#write('Secret', name, { metadata: { name }, type: 'Opaque', data: { content }, ...fields }, { actor, ...type })
  }

  /** Writes the record, with permits for these pods as they are; a controller publishes the partition first. */
  record(fields: Fields, pods?: string, actor = 'controller-1'): this {
    if (fields['partition'] !== undefined && actor.startsWith('controller')) this.#enqueue(fields)
    const known = this.#objects.get('BatchRelease agent')
    const status = known?.['status'] as { readonly flight?: Fields } | undefined
    const before = status?.flight
    const permits = pods
      ?.split(' ')
      .filter(Boolean)
      .map((uid) => ({
        node: uid[0],
        podUid: uid,
        podResourceVersion: String(this.#versions.get(`Pod ${uid}`) ?? 0),
      }))
    const flight = { ...before, ...fields, ...(permits !== undefined && { permits }) }
    const o = { metadata: { name: 'agent' }, spec: { workloadRef: { name: 'agent' } }, ...known, status: { ...status, flight } }
    return this.#write('BatchRelease', 'agent', o, { actor, verb: 'patch', resource: 'batchreleases/status' })
  }

  /** Changes the BatchRelease of the record. */
  order(fields: Fields, options: Fields = {}): this {
    const o = mergeDeep(this.#objects.get('BatchRelease agent') ?? {}, fields)
    return this.#write('BatchRelease', 'agent', o, { actor: 'controller-1', verb: 'patch', ...options })
  }

  #enqueue({ partition, revision }: Fields): void {
    const said = (this.#objects.get('DaemonSet agent')?.['annotations'] ?? {}) as Fields
    const published = {
      ...(revision !== undefined && { 'rollouts.kruise.io/daemonset-canary-revision': revision }),
      'rollouts.kruise.io/daemonset-partition': String(partition),
    }
    if (Object.entries(published).some(([key, value]) => said[key] !== value)) this.annotate(published)
  }

  /** A user writes a BatchRelease. */
  release(name: string): this {
    const o = { metadata: { name }, spec: { workloadRef: { name: 'agent' } }, status: {} }
    return this.#write('BatchRelease', name, o, { actor: 'user', verb: 'create' })
  }

  /** A BatchRelease of the DaemonSet of the same name, as the controller writes it. */
  batchRelease(name: string, fields: Fields, options: Fields = {}): this {
    const before = this.#objects.get(`BatchRelease ${name}`) ?? { metadata: { name }, spec: { workloadRef: { name } } }
    return this.#write('BatchRelease', name, mergeDeep(before, fields), { actor: 'controller-1', verb: 'patch', uid: name, ...options })
  }

  /** A user applies a definition of BatchReleases whose status has these members. */
  definition(...members: readonly string[]): this {
    const status = Object.fromEntries(members.map((member) => [member, {}]))
    return this.#write(
      'CustomResourceDefinition',
      'batchreleases',
      { spec: { names: { kind: 'BatchRelease' }, status } },
      { actor: 'user' },
    )
  }

  /** A user writes a ReleasePolicy, unless the options name another actor. */
  policy(name: string, maxUnavailable: number, options: Fields = {}, rules: Fields = {}): this {
    return this.#write(
      'ReleasePolicy',
      name,
      { metadata: { name }, spec: { maxUnavailable, ...rules } },
      { actor: 'user', verb: 'patch', ...options },
    )
  }

  rollout(fields: Fields, actor = 'user', options: Fields = {}): this {
    const before = this.#objects.get('Rollout agent') ?? { spec: { workloadRef: { name: 'agent' }, strategy: {} } }
    const o = mergeDeep({ metadata: { name: 'agent' } }, mergeDeep(before, fields))
    return this.#write('Rollout', 'agent', o, { actor, verb: 'patch', ...options })
  }

  /** A user writes another Rollout of the DaemonSet, without steps. */
  conflicting(name: string): this {
    const o = { metadata: { name }, spec: { workloadRef: { name: 'agent' }, strategy: {} } }
    return this.#write('Rollout', name, o, { actor: 'user', verb: 'create' })
  }

  /** The watches of an actor deliver everything up to now. */
  seen(actor = 'executor-1', resources: readonly string[] = ['pods', 'nodes', 'daemonsets']): this {
    this.#t++
    for (const of of resources) this.#deliveries.push({ t: this.#t, to: actor, of, rv: this.rv })
    return this
  }

  /** A request of an executor has no answer. */
  fails(method: string, path: string, actor = 'executor-1'): this {
    this.#failures.push({ actor, atMs: ++this.#t, method, path })
    return this
  }

  /** Requests without an answer, in order of time. */
  get failures(): readonly FailedRequest[] {
    return this.#failures
  }

  recording(): Recording {
    return { writes: this.#writes, deliveries: this.#deliveries }
  }

  #write(kind: string, name: string, fields: Fields, options: Fields): this {
    this.#t++
    const key = `${kind} ${name}`
    const o = { ...this.#objects.get(key), ...fields }
    const type = this.#objects.has(key) ? 'MODIFIED' : 'ADDED'
    this.#writes.push({ t: this.#t, rv: this.rv + 1, kind, type, o, namespace: 'demo', ...options } as RecordedWrite)
    this.#versions.set(key, this.rv)
    if (options['type'] === 'DELETED') this.#objects.delete(key)
    else this.#objects.set(key, o)
    return this
  }
}

/**
 * Four nodes `a` to `d` with the pods `a1` to `d1` on v1, all Ready. v2 is to be released everywhere, two nodes at a time. Every pod has
 * a permit, and executor-1 has seen all of it.
 */
export function fleet(daemonSet: Fields = {}): Script {
  const script = new Script()
  for (const name of 'abcd') script.node(name)
  for (const name of 'abcd') script.pod(`${name}1`)
  const annotations = {
    'rollouts.kruise.io/daemonset-canary-revision': 'v2',
    'rollouts.kruise.io/daemonset-stable-revision': 'v1',
    'rollouts.kruise.io/daemonset-partition': '0',
    'rollouts.kruise.io/daemonset-original-update-strategy': 'RollingUpdate',
  }
  const strategy = { type: 'OnDelete', rollingUpdate: { maxUnavailable: 2 } }
  return script
    .revision('v1', 'template-1')
    .revision('v2', 'template-2')
    .daemonSet({ generation: 1, observed: 1, strategy, annotations, template: 'template-2', placement: {}, ...daemonSet })
    .seen('controller-1')
    .record({ state: 'open', epoch: 1, generation: 1, revision: 'v2', partition: 0, limit: 2 }, 'a1 b1 c1 d1')
    .seen()
}

/** One recording and what is to be found in it: `G1 a`, or `G10` where it is about no node. */
export type Case = readonly [name: string, play: (script: Script) => unknown, found: readonly string[]]

/** Runs a table of recordings against one judge. Each begins with {@link fleet}, unless `begin` says otherwise. */
export function judgeEach(
  guarantee: RecordedGuarantee,
  cases: readonly Case[],
  options: { readonly begin?: () => Script; readonly query?: (script: Script) => Partial<JudgeQuery> } = {},
): void {
  it.each(cases)(`%s (${guarantee})`, (_name, play, found) => {
    const script = (options.begin ?? fleet)()
    play(script)
    expect(
      find(script, { guarantees: [guarantee], ...options.query?.(script) }).map(({ guarantee: id, node }) =>
        [id, node].filter(Boolean).join(' '),
      ),
    ).toEqual(found)
  })
}

/** @returns the breaches of executors and controllers in a script */
export function find(script: Script, query: Partial<JudgeQuery> = {}): readonly Breach[] {
  return judge(script.recording(), { isOurs: (actor) => /^(executor|controller)-/.test(actor), failures: script.failures, ...query })
}

function mergeDeep(before: Fields, fields: Fields): Fields {
  const merged: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(fields)) {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    merged[key] = isMap ? mergeDeep((before[key] ?? {}) as Fields, value as Fields) : value
  }
  return merged
}
