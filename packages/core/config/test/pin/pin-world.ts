import {
  type Collection,
  type ConfigCopy,
  type ConfigSource,
  type ExistingCopy,
  garbageOf,
  PINNED_CONFIG_ANNOTATION,
  pinKey,
  type PinPlan,
  planPins,
  pinnedObjects,
  pinsOf,
  parsePins,
  type PinView,
} from '@tranche/config'

/** A template, reduced to what pinning looks at. */
export interface Template {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
  readonly spec: object
}

/** Template that reads these objects as variables. */
export function templateOf(reads: readonly string[], image: number, annotations: Readonly<Record<string, string>> = {}): Template {
  const envFrom = reads.map((key) => {
    const [kind, name] = key.split('/')
    return kind === 'Secret' ? { secretRef: { name } } : { configMapRef: { name } }
  })
  return { metadata: { annotations }, spec: { containers: [{ name: 'agent', image: `agent:${image}`, envFrom }] } }
}

interface DaemonSet {
  readonly version: number
  readonly generation: number
  readonly observed: number
  readonly template: Template
  readonly offered: string | undefined
  readonly recorded: ReadonlySet<string> | undefined
}

/** Objects of the API server. */
export interface State {
  readonly daemonSet: DaemonSet
  readonly sources: ReadonlyMap<string, ConfigSource>
  readonly copies: ReadonlyMap<string, ExistingCopy>
  readonly revisions: readonly Template[]
  readonly pods: readonly Template[]
}

/** Part of a write that a process sends by itself; it may be frozen before each. @returns the next part, or null at the end */
export type Step = () => Step | null

const owner = { namespace: 'demo', name: 'agent', uid: 'd1' }

/** An API server with one DaemonSet, its native controller, and processes that pin its config. */
export class PinWorld {
  state: State = {
    daemonSet: {
      version: 1,
      generation: 1,
      observed: 0,
      template: templateOf(['ConfigMap/a', 'Secret/s'], 1),
      offered: undefined,
      recorded: undefined,
    },
    sources: new Map(),
    copies: new Map(),
    revisions: [],
    pods: [],
  }
  /** What each watch of a process shows; each lags by itself. */
  readonly caches: State[] = [this.state, this.state]
  #version = 1
  /** The DaemonSet that the native controller has seen. */
  #native: DaemonSet = this.state.daemonSet
  /** Copies that we have deleted. */
  readonly deleted: string[] = []

  setSource(key: string, value: number | null): void {
    const [kind = '', name = ''] = key.split('/')
    const sources = new Map(this.state.sources)
    const before = sources.get(key)
    if (value === null) sources.delete(key)
    else {
      const resourceVersion = String(++this.#version)
      sources.set(key, {
        kind: kind as ConfigSource['kind'],
        name,
        uid: before?.uid ?? `u${this.#version}`,
        resourceVersion,
        data: { v: String(value) },
      })
    }
    this.state = { ...this.state, sources }
  }

  /** A user writes the template; a tool that replaces the object drops the annotations. */
  apply(change: (template: Template) => Template, replaces: boolean): void {
    const { template, offered, recorded } = this.state.daemonSet
    const next = change(replaces ? { ...template, metadata: { annotations: {} } } : template)
    this.#write({ template: next, ...(replaces ? { offered: undefined, recorded: undefined } : { offered, recorded }) })
  }

  undo(pick: number): void {
    const template = this.state.revisions[pick % Math.max(1, this.state.revisions.length)]
    if (template !== undefined) this.#write({ template })
  }

  /** The native controller sees the DaemonSet. */
  see(): void {
    this.#native = this.state.daemonSet
  }

  /** The native controller makes the revision of the template that it has seen, prunes the history, and reports the generation. */
  sync(): void {
    const { template, generation } = this.#native
    const same = (one: Template): boolean => JSON.stringify(one) === JSON.stringify(template)
    const used = this.state.revisions.filter((one) => !same(one))
    const kept = used.filter(
      (one, at) => at >= used.length - 1 || this.state.pods.some((pod) => JSON.stringify(pod) === JSON.stringify(one)),
    )
    const { daemonSet: before } = this.state
    const isSeen = before.observed >= generation
    const daemonSet = isSeen ? before : { ...before, observed: generation, version: ++this.#version }
    this.state = { ...this.state, revisions: [...kept, template], daemonSet }
  }

  /** The native controller replaces a pod with one of the template that it has seen, if it has made its revision. */
  replacePod(at: number): void {
    const { template } = this.#native
    if (!this.state.revisions.some((one) => JSON.stringify(one) === JSON.stringify(template))) return
    this.state = { ...this.state, pods: [...this.state.pods.filter((_pod, index) => index !== at % 3), template].slice(-3) }
  }

  /** A watch of a process catches up. */
  refresh(process: number, part: keyof State): void {
    this.caches[process] = { ...this.caches[process]!, [part]: this.state[part] }
  }

  /** A process decides on what its watches show. @returns the first step of its write; null without one */
  decide(process: number): Step | null {
    const cache = this.caches[process]!
    return this.#toStep(planPins(viewOf(cache)), cache)
  }

  /** Names of copies that something names and that we have deleted. */
  missing(): readonly string[] {
    const { daemonSet, revisions, pods, copies } = this.state
    const named = [daemonSet.template, ...revisions, ...pods].flatMap((one) => [...pinsOf(one)])
    return named.flatMap(([key, copy]) => {
      const name = `${key.split('/')[0]}/${copy}`
      return copies.has(name) || !this.deleted.includes(name) ? [] : [name]
    })
  }

  #toStep(plan: PinPlan, cache: State): Step | null {
    switch (plan.kind) {
      case 'createCopy':
        return this.#once(() => this.#create(plan.copy))
      case 'keepCopy':
        return this.#once(() => this.#mark(plan.copy, false))
      case 'pin':
        return this.#pinStep(plan, cache.daemonSet.version)
      case 'collect':
        return this.#collectStep(plan.collection, cache.daemonSet.version)
      default:
        return null
    }
  }

  #once(act: () => void): Step {
    return () => {
      act()
      return null
    }
  }

  #pinStep({ pins, offered, recorded }: Extract<PinPlan, { kind: 'pin' }>, version: number): Step {
    const patch = (): null => {
      const { daemonSet } = this.state
      if (daemonSet.version !== version) return null
      const uids = [...parsePins(pins ?? '')].flatMap(([key, copy]) => this.state.copies.get(`${key.split('/')[0]}/${copy}`)?.uid ?? [])
      const annotations = { ...daemonSet.template.metadata.annotations, ...(pins !== null && { [PINNED_CONFIG_ANNOTATION]: pins }) }
      this.#write({
        offered,
        recorded: new Set([...recorded, ...uids]),
        ...(pins !== null && { template: { ...daemonSet.template, metadata: { annotations } } }),
      })
      return null
    }
    return () => {
      const named = [...parsePins(pins ?? '')].map(([key, copy]) => this.state.copies.get(`${key.split('/')[0]}/${copy}`))
      return named.every((copy) => copy !== undefined && !copy.isUnused) ? patch : null
    }
  }

  /** The process may be frozen between any two of its writes. */
  #collectStep({ named, unused, marked }: Collection, version: number): Step {
    const marks = [...named.map((copy) => [copy, false] as const), ...unused.map((copy) => [copy, true] as const)]
    const next = (at: number): Step | null => {
      const mark = marks[at]
      if (mark === undefined) return marked.length === 0 ? null : this.#deleteStep(marked, version)
      const [copy, isUnused] = mark
      return () => {
        this.#mark(copy, isUnused)
        return next(at + 1)
      }
    }
    return next(0) ?? (() => null)
  }

  #deleteStep(marked: readonly ExistingCopy[], version: number): Step {
    const remove =
      (copy: ExistingCopy, rest: readonly ExistingCopy[]): Step =>
      () => {
        const key = pinKey(copy)
        const stored = this.state.copies.get(key)
        if (stored?.uid === copy.uid && stored.resourceVersion === copy.resourceVersion) {
          const copies = new Map(this.state.copies)
          copies.delete(key)
          this.deleted.push(key)
          this.state = { ...this.state, copies }
        }
        return rest[0] === undefined ? null : remove(rest[0], rest.slice(1))
      }
    const look = (): Step | null => {
      const still = new Set(garbageOf(viewOf(this.state)).map(pinKey))
      const doomed = marked.filter((copy) => still.has(pinKey(copy)))
      return doomed[0] === undefined ? null : remove(doomed[0], doomed.slice(1))
    }
    return () => {
      if (this.state.daemonSet.version !== version) return null
      this.state = { ...this.state, daemonSet: { ...this.state.daemonSet, version: ++this.#version } }
      return look
    }
  }

  #create(copy: ConfigCopy): void {
    const key = `${copy.kind}/${copy.metadata.name}`
    if (this.state.copies.has(key)) return
    const version = String(++this.#version)
    const { data = {} } = copy
    const source = copy.metadata.annotations['tranche.dev/copy-of'] ?? ''
    const stored = {
      kind: copy.kind,
      name: copy.metadata.name,
      uid: `c${version}`,
      resourceVersion: version,
      source,
      isUnused: false,
      salt: undefined,
      content: { data },
    }
    this.state = { ...this.state, copies: new Map(this.state.copies).set(key, stored) }
  }

  #mark(copy: ExistingCopy, isUnused: boolean): void {
    const stored = this.state.copies.get(pinKey(copy))
    if (stored?.resourceVersion !== copy.resourceVersion || stored.uid !== copy.uid) return
    const marked = { ...stored, isUnused, resourceVersion: String(++this.#version) }
    this.state = { ...this.state, copies: new Map(this.state.copies).set(pinKey(copy), marked) }
  }

  #write(change: Partial<Pick<DaemonSet, 'template' | 'offered' | 'recorded'>>): void {
    const before = this.state.daemonSet
    const isNew = change.template !== undefined && JSON.stringify(change.template) !== JSON.stringify(before.template)
    const daemonSet = { ...before, ...change, version: ++this.#version, generation: before.generation + (isNew ? 1 : 0) }
    this.state = { ...this.state, daemonSet }
  }
}

function viewOf({ daemonSet, sources, copies, revisions, pods }: State): PinView {
  const read = pinnedObjects(daemonSet.template).map((object) => {
    const source = sources.get(pinKey(object))
    return [pinKey(object), source === undefined ? ({ kind: 'absent' } as const) : ({ kind: 'found', source } as const)] as const
  })
  return {
    owner,
    kinds: ['ConfigMap', 'Secret'],
    template: daemonSet.template,
    offered: daemonSet.offered,
    sources: new Map(read),
    copies: [...copies.values()],
    recorded: daemonSet.recorded,
    forged: [],
    taken: new Map(),
    revisions,
    pods,
    isObserved: daemonSet.observed === daemonSet.generation,
  }
}
