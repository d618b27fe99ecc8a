import type { RecordedDaemonSet, RecordedPod, RecordedRevision, RecordedWrite } from '../../record/recorded-write.ts'
import { copiesIn, pinsConfig } from '../../world/pins.ts'
import type { RecordedRollout } from '../../world/stops.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'
import { ConfigStore } from './config-store.ts'

/**
 * Config that is pinned, judged by what users wrote and by the objects that pods read.
 *
 * - G3: we bring config into the template under OnDelete alone. A pod reads the copies that its revision names, never the object itself, unless a user deletes
 *   the policy for pods. Copies are immutable and exist. A copy holds what the user's object held when it was named first. A change of config
 *   therefore reaches a node only with a revision, which the other judges let in by batches alone.
 * - G11: we bring into a template only a content that the user's object has had since the DaemonSet was written last.
 * - G12: a content that was brought in once does not come back after a rollback. Another content of the user's object, or a user's write of
 *   the template or the Rollout, ends that.
 * - G7: we delete no copy that a pod, a revision or the template names.
 */
export function createConfigJudge(parts: JudgeParts): Judge {
  return new ConfigJudge(parts)
}

/** Name of the policy that names copies in pods, and of its binding. */
const POD_POLICY = 'pods'

interface Reader {
  readonly namespace: string | undefined
  readonly names: readonly string[]
}

interface Offered {
  readonly copy: string
  readonly content: string
  readonly atMs: number
}

interface KnownDaemonSet {
  readonly writtenMs: number
  /** Content that Tranche brought in last, by object. */
  readonly offered: Map<string, Offered>
  /** Objects of which we took the copy out of the template, and no user has written the template or the Rollout since. */
  readonly takenOut: Set<string>
}

class ConfigJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #store = new ConfigStore()
  /** Copies that each pod reads. */
  readonly #pods = new Map<string, Reader>()
  /** Copies that each revision names, by uid of the revision. */
  readonly #revisions = new Map<string, Reader>()
  /** Copies by the hash of the revision. */
  readonly #pins = new Map<string, ReadonlyMap<string, string>>()
  readonly #daemonSets = new Map<string, KnownDaemonSet>()
  /** Content of users' objects when we brought it in, by the object and its copy. */
  readonly #contents = new Map<string, string>()
  /** Parts of the policy for pods that a user has deleted: until they are back, the API server names no copies. */
  readonly #lifted = new Set<string>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onWrite(write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'ConfigMap' || write.kind === 'Secret') this.#followConfig(write)
    else if (write.kind === 'ControllerRevision') this.#followRevision(write)
    else if (write.kind === 'Pod') this.#followPod(write)
    else if (write.kind === 'DaemonSet') this.#followDaemonSet(write, before as unknown as RecordedDaemonSet | undefined)
    else if (write.kind === 'Rollout') this.#followRollout(write)
    else if (write.kind.startsWith('MutatingAdmissionPolicy')) this.#followPolicy(write)
  }

  #followConfig(write: RecordedWrite): void {
    const { name } = (write.o as { readonly metadata: { readonly name: string } }).metadata
    const copy = `${write.kind}/${name}`
    const isOurs = this.#parts.query.isOurs(write.actor ?? '')
    if (write.type === 'DELETED' && isOurs) {
      const reader = [...this.#pods, ...this.#revisions].find(([, one]) => one.namespace === write.namespace && one.names.includes(copy))
      if (reader !== undefined)
        this.#parts.breach({ guarantee: 'G7', atMs: write.t, text: `${write.actor} deleted the copy ${copy}, which ${reader[0]} names` })
    }
    this.#store.apply(write)
  }

  #followPolicy({ type, kind, o }: RecordedWrite): void {
    if ((o as { readonly metadata: { readonly name: string } }).metadata.name !== POD_POLICY) return
    if (type === 'DELETED') this.#lifted.add(kind)
    else this.#lifted.delete(kind)
  }

  #followRevision({ type, namespace, uid = '', o }: RecordedWrite): void {
    const { hash, pins } = o as unknown as RecordedRevision
    if (type === 'DELETED') this.#revisions.delete(uid)
    else if (pins !== undefined && hash !== undefined) {
      this.#pins.set(`${namespace}/${hash}`, copiesIn(pins))
      this.#revisions.set(uid, { namespace, names: [...copiesIn(pins).values()] })
    }
  }

  #followPod(write: RecordedWrite): void {
    const { namespace, uid = '', t } = write
    const { name, node, hash, config = [], secrets = [], deleting } = write.o as unknown as RecordedPod
    const read = [...config.map((one) => `ConfigMap/${one}`), ...secrets.map((one) => `Secret/${one}`)]
    const pins = this.#pins.get(`${namespace}/${hash ?? ''}`)
    if (write.type === 'DELETED' || deleting || pins === undefined) return void this.#pods.delete(uid)
    const isNew = !this.#pods.has(uid)
    const copies = [...pins.values()].filter((copy) => read.includes(copy))
    this.#pods.set(uid, { namespace, names: copies })
    if (!isNew || write.type !== 'ADDED') return
    const report = (text: string): void =>
      this.#parts.breach({ guarantee: 'G3', atMs: t, ...(node !== undefined && { node }), text: `pod ${name} ${text}` })
    for (const [object, copy] of pins) {
      if (read.includes(object) && this.#lifted.size === 0) report(`reads ${object}, of which its revision names the copy ${copy}`)
      else if (read.includes(copy) && !this.#store.isImmutable(namespace, copy)) report(`reads ${copy}, which is not immutable`)
      else if (read.includes(copy) && this.#isSwapped(namespace, object, copy))
        report(`reads ${copy}, which holds what ${object} did not hold`)
    }
  }

  /** Whether a copy exists with another content than the one that we brought in. */
  #isSwapped(namespace: string | undefined, object: string, copy: string): boolean {
    const content = this.#store.content(namespace, copy)
    const pinned = this.#contents.get(`${namespace}/${object}=${copy}`)
    return content !== null && pinned !== undefined && content !== pinned
  }

  #followDaemonSet(write: RecordedWrite, before: RecordedDaemonSet | undefined): void {
    const next = write.o as unknown as RecordedDaemonSet
    const key = `${write.namespace}/${next.name}`
    if (write.type === 'DELETED') return void this.#daemonSets.delete(key)
    const known = this.#daemonSets.get(key) ?? { writtenMs: write.t, offered: new Map<string, Offered>(), takenOut: new Set<string>() }
    const isOurs = this.#parts.query.isOurs(write.actor ?? '')
    if (before !== undefined && isOurs && pinsConfig(before, next)) {
      const pins = [...copiesIn(next.pins)].map(([object, copy]): Pin => {
        return {
          object,
          copy,
          mayReturn: mayComeBack(before, known, object),
          before: copiesIn(before.pins).get(object),
          type: next.strategy?.type,
        }
      })
      const isNews = pins.some(({ object, copy }) => known.offered.get(object)?.content !== this.#store.content(write.namespace, copy))
      for (const pin of pins) if (pin.before !== pin.copy) this.#judgePin(write, known, { ...pin, mayReturn: pin.mayReturn || isNews })
    }
    if (before?.template !== next.template) followTakenOut(known, { before, next, isOurs })
    this.#daemonSets.set(key, { ...known, writtenMs: write.t })
  }

  #followRollout({ namespace, actor, o }: RecordedWrite): void {
    const { spec } = o as unknown as RecordedRollout
    if (!this.#parts.query.isOurs(actor ?? '')) this.#daemonSets.get(`${namespace}/${spec.workloadRef?.name}`)?.takenOut.clear()
  }

  #judgePin(write: RecordedWrite, { writtenMs, offered }: KnownDaemonSet, { object, copy, mayReturn, before, type }: Pin): void {
    const { namespace, actor, t } = write
    const content = this.#store.content(namespace, copy)
    const breach = (guarantee: 'G3' | 'G11' | 'G12', text: string): void =>
      this.#parts.breach({ guarantee, atMs: t, text: `${actor} ${text}` })
    if (content === null) return breach('G11', `named the copy ${copy} of ${object}, which does not exist`)
    if (this.#store.contentsSince(namespace, object, writtenMs).has(content)) this.#contents.set(`${namespace}/${object}=${copy}`, content)
    else breach('G11', `named the copy ${copy}, with a content, or a type, that ${object} did not have`)
    if (type !== 'OnDelete') breach('G3', `named the copy ${copy} under ${type}: the native controller brings it to every node`)
    const last = offered.get(object)
    // A copy that follows the last one was not rolled back: a user may have taken its name. A user who changes the object and then back asks for its content again.
    const wasKept = last?.content === content && before !== last.copy && this.#store.contentsSince(namespace, object, last.atMs).size === 1
    if (!mayReturn && wasKept) breach('G12', `named the copy ${copy} again, which was rolled back`)
    offered.set(object, { copy, content, atMs: t })
  }
}

interface Pin {
  readonly object: string
  readonly copy: string
  /** Whether the template named no copy of the object before, and not because we took it out; or another object has other content. */
  readonly mayReturn: boolean
  /** Copy that the template named before. */
  readonly before: string | undefined
  /** Update strategy since then. */
  readonly type: string | undefined
}

function mayComeBack({ pins }: RecordedDaemonSet, { takenOut }: KnownDaemonSet, object: string): boolean {
  return copiesIn(pins).get(object) === undefined && !takenOut.has(object)
}

interface TemplateChange {
  readonly before: RecordedDaemonSet | undefined
  readonly next: RecordedDaemonSet
  readonly isOurs: boolean
}

function followTakenOut({ takenOut }: KnownDaemonSet, { before, next, isOurs }: TemplateChange): void {
  if (!isOurs) return takenOut.clear()
  const named = copiesIn(next.pins)
  for (const object of copiesIn(before?.pins).keys()) if (!named.has(object)) takenOut.add(object)
}
