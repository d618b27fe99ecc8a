import {
  type ConfigSource,
  copyName,
  type ExistingCopy,
  garbageOf,
  isPinned,
  PINNED_CONFIG_ANNOTATION,
  parsePins,
  planPins,
  pinsOf,
  type PinView,
  toCopy,
} from '@tranche/config'
import { describe, expect, it } from 'vitest'
import { PinWorld, type Step, templateOf } from './pin-world.ts'

const owner = { namespace: 'demo', name: 'agent', uid: 'd1' }
const a = (v: string): ConfigSource => ({ kind: 'ConfigMap', name: 'a', uid: 'u1', resourceVersion: v, data: { v } })
const b = (v: string): ConfigSource => ({ ...a(v), name: 'b', uid: 'u2' })
const copyFor = (source: ConfigSource, more: Partial<ExistingCopy> = {}): ExistingCopy => ({
  kind: source.kind,
  name: copyName(source, owner),
  uid: `c-${source.name}`,
  resourceVersion: '7',
  source: source.name,
  salt: undefined,
  isUnused: false,
  ...more,
})
const pins = (...sources: readonly ConfigSource[]): string =>
  sources.map((source) => `${source.kind}/${source.name}=${copyName(source, owner)}`).join(',')
const pinned = (text: string, reads: readonly string[] = ['ConfigMap/a']) => templateOf(reads, 1, { [PINNED_CONFIG_ANNOTATION]: text })
const found = (...sources: readonly ConfigSource[]): PinView['sources'] =>
  new Map(sources.map((source) => [`${source.kind}/${source.name}`, { kind: 'found', source }]))

/** Keys of ConfigMaps with names of a length. */
const manyOf = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, at) => `ConfigMap/${String(at).padStart(length, 'c')}`)
const sourceOf = (key: string): ConfigSource => ({ ...a('1'), name: key.slice('ConfigMap/'.length) })

const secret = (resourceVersion: string, v: string): ConfigSource => ({ ...a(resourceVersion), kind: 'Secret', name: 's', data: { v } })

/** Other objects have the first two names of the copy of a. */
const takenNames = new Map([
  [`ConfigMap/${copyName(a('1'), owner)}`, 'salt-1'],
  [`ConfigMap/${copyName(a('1'), owner, 'salt-1')}`, 'salt-2'],
])

/** A template, and an offer, that name this copy of a. */
const pinnedTo = (name: string): Pick<PinView, 'template' | 'offered'> => ({
  template: pinned(`ConfigMap/a=${name}`),
  offered: `ConfigMap/a=${name}`,
})

const unpinned: PinView = {
  owner,
  kinds: ['ConfigMap', 'Secret'],
  template: templateOf(['ConfigMap/a'], 1),
  offered: undefined,
  sources: found(a('1')),
  copies: [],
  recorded: new Set(['c-a', 'c-b', 'c-s']),
  forged: [],
  taken: new Map(),
  revisions: [],
  pods: [],
  isObserved: true,
}
const atRest: PinView = { ...unpinned, template: pinned(pins(a('1'))), offered: pins(a('1')), copies: [copyFor(a('1'))] }
const rolledBack: PinView = {
  ...atRest,
  offered: pins(a('2')),
  sources: found(a('2')),
  copies: [copyFor(a('1')), copyFor(a('2'))],
}

describe('a pass over the config of a DaemonSet', () => {
  it.each<[sentence: string, view: PinView, plan: object]>([
    ['creates the copy first', unpinned, { kind: 'createCopy', copy: toCopy(a('1'), owner) }],
    [
      'then names it in the template, as an offer',
      { ...unpinned, copies: [copyFor(a('1'))] },
      { kind: 'pin', pins: pins(a('1')), offered: pins(a('1')) },
    ],
    ['does nothing at rest', atRest, { kind: 'none', rolledBack: [] }],
    [
      'records a copy that was made again, without a change of the template',
      { ...atRest, copies: [copyFor(a('1'), { uid: 'c-again' })] },
      { kind: 'pin', pins: null, offered: pins(a('1')), recorded: ['c-a', 'c-b', 'c-s', 'c-again'] },
    ],
    [
      'records copies that an earlier version of Tranche named',
      { ...atRest, recorded: undefined },
      { kind: 'pin', pins: null, recorded: ['c-a'] },
    ],
    [
      'records the copies of the history too',
      { ...atRest, revisions: [pinned(pins(a('0')))], copies: [copyFor(a('1')), copyFor(a('0'), { uid: 'c-old' })] },
      { kind: 'pin', pins: null, recorded: ['c-b', 'c-s', 'c-a', 'c-old'] },
    ],
    [
      'records no copy that nothing names',
      { ...atRest, copies: [copyFor(a('1')), copyFor(a('0'), { uid: 'c-old' })] },
      { kind: 'collect', collection: { unused: [{ uid: 'c-old' }] } },
    ],
    [
      'releases the content under another name where another client has taken the first one',
      { ...atRest, copies: [], taken: takenNames, forged: [`ConfigMap/${copyName(a('1'), owner)}`] },
      { kind: 'createCopy', copy: toCopy(a('1'), owner, 'salt-2') },
    ],
    [
      'offers a new content',
      { ...atRest, sources: found(a('2')) },
      { kind: 'createCopy', copy: { metadata: { name: copyName(a('2'), owner) } } },
    ],
    [
      'leaves a rolled back template, though Git still holds the content',
      rolledBack,
      { kind: 'none', rolledBack: [{ kind: 'ConfigMap', name: 'a' }] },
    ],
    [
      'leaves a rolled back template, and the offer, while the object is gone',
      { ...rolledBack, sources: new Map([['ConfigMap/a', { kind: 'absent' }]]) },
      { kind: 'none', rolledBack: [] },
    ],
    [
      'offers the fix that follows a rollback',
      { ...rolledBack, sources: found(a('3')), copies: [...rolledBack.copies, copyFor(a('3'))] },
      { kind: 'pin', pins: pins(a('3')), offered: pins(a('3')) },
    ],
    [
      'pins a new reference without offering the rolled back content of another again',
      {
        ...rolledBack,
        template: pinned(pins(a('1')), ['ConfigMap/a', 'ConfigMap/b']),
        sources: found(a('2'), b('1')),
        copies: [...rolledBack.copies, copyFor(b('1'))],
      },
      { kind: 'pin', pins: pins(a('1'), b('1')), offered: pins(a('2'), b('1')) },
    ],
    [
      'offers all present contents once one of them is new',
      {
        ...rolledBack,
        template: pinned(pins(a('1'), b('1')), ['ConfigMap/a', 'ConfigMap/b']),
        offered: pins(a('2'), b('1')),
        sources: found(a('2'), b('2')),
        copies: [...rolledBack.copies, copyFor(b('1')), copyFor(b('2'))],
      },
      { kind: 'pin', pins: pins(a('2'), b('2')) },
    ],
    [
      'writes the annotation of the template again where a tool dropped it',
      { ...atRest, template: unpinned.template },
      { kind: 'pin', pins: pins(a('1')), offered: pins(a('1')) },
    ],
    [
      'does not change the template for a reference that is gone',
      { ...atRest, template: pinned(pins(a('1')), []), offered: '' },
      { kind: 'none' },
    ],
    ['keeps the copy of an object that is gone', { ...atRest, sources: new Map([['ConfigMap/a', { kind: 'absent' }]]) }, { kind: 'none' }],
    [
      'has nothing to copy of an object that never existed',
      { ...unpinned, sources: new Map([['ConfigMap/a', { kind: 'absent' }]]) },
      { kind: 'none' },
    ],
    [
      'makes a copy again that a user has deleted',
      { ...atRest, copies: [] },
      { kind: 'createCopy', copy: { metadata: { name: copyName(a('1'), owner) } } },
    ],
    [
      'waits for an object that it may not read, and names it',
      { ...unpinned, sources: new Map([['ConfigMap/a', { kind: 'unread', why: 'the controller may not get configmaps' }]]) },
      { kind: 'wait', reason: 'ConfigUnread', message: 'ConfigMap a cannot be read: the controller may not get configmaps' },
    ],
    [
      'waits where a name is at a place in which no policy can replace it',
      {
        ...unpinned,
        template: { spec: { containers: Array.from({ length: 9 }, () => ({ envFrom: [{ configMapRef: { name: 'a' } }] })) } },
      },
      { kind: 'wait', reason: 'BeyondLimits', message: expect.stringMatching(/^spec\.containers\[8\]\.envFrom\[0\]\.configMapRef\.name /) },
    ],
    [
      'waits where the API server would stop the policy: it rejects pods of 64 fields with as many copies of long names',
      { ...unpinned, template: templateOf(manyOf(64, 200), 1), sources: found(...manyOf(64, 200).map(sourceOf)) },
      { kind: 'wait', reason: 'BeyondLimits', message: expect.stringMatching(/^64 fields name config, too many for the 64 copies /) },
    ],
    [
      'pins all that 64 fields of one container name',
      { ...unpinned, template: templateOf(manyOf(64, 4), 1), sources: found(...manyOf(64, 4).map(sourceOf)) },
      { kind: 'createCopy' },
    ],
    ['leaves objects of a kind that the installation does not let it copy', { ...unpinned, kinds: ['Secret'] }, { kind: 'none' }],
    ['waits until an object is read', { ...unpinned, sources: new Map() }, { kind: 'wait', reason: 'ConfigUnread' }],
    [
      'gives the copy another name where an object of another owner has the first one, and the second',
      { ...unpinned, taken: takenNames },
      { kind: 'createCopy', copy: toCopy(a('1'), owner, 'salt-2') },
    ],
    [
      'names that copy in the template, although another object has the name of the former one',
      { ...atRest, taken: takenNames, copies: [copyFor(a('1'), { name: copyName(a('1'), owner, 'salt-2'), salt: 'salt-2' })] },
      { kind: 'pin', pins: `ConfigMap/a=${copyName(a('1'), owner, 'salt-2')}` },
    ],
    [
      'keeps a copy of another name that holds the content, also when it knows of no object that has the first name',
      { ...atRest, ...pinnedTo('a-other'), copies: [copyFor(a('1'), { name: 'a-other', salt: 'salt', content: { data: { v: '1' } } })] },
      { kind: 'none', rolledBack: [] },
    ],
    [
      'follows no copy that holds the content, but that neither the template nor the offer names: any client may create it',
      { ...unpinned, copies: [copyFor(a('1'), { name: 'a-forged', content: { data: { v: '1' } } })] },
      { kind: 'createCopy', copy: toCopy(a('1'), owner) },
    ],
    [
      'uses the copy of a Secret that the template names and that holds its content, whatever its version',
      {
        ...unpinned,
        template: pinned('Secret/s=s-0', ['Secret/s']),
        offered: 'Secret/s=s-0',
        sources: found(secret('9', 'x')),
        copies: [copyFor(secret('1', 'x'), { name: 's-0', content: { data: { v: 'x' } } })],
      },
      { kind: 'none', rolledBack: [] },
    ],
    [
      'offers another content of a Secret',
      {
        ...unpinned,
        template: pinned('Secret/s=s-0', ['Secret/s']),
        offered: 'Secret/s=s-0',
        sources: found(secret('9', 'y')),
        copies: [copyFor(secret('1', 'x'), { name: 's-0', content: { data: { v: 'x' } } })],
      },
      { kind: 'createCopy', copy: toCopy(secret('9', 'y'), owner) },
    ],
    [
      'leaves the rolled back content of a Secret, although its version has changed since',
      {
        ...unpinned,
        template: pinned('Secret/s=s-1', ['Secret/s']),
        offered: 'Secret/s=s-2',
        sources: found(secret('9', 'y')),
        copies: [
          copyFor(secret('1', 'x'), { name: 's-1', content: { data: { v: 'x' } } }),
          copyFor(secret('2', 'y'), { name: 's-2', content: { data: { v: 'y' } } }),
        ],
      },
      { kind: 'none', rolledBack: [{ kind: 'Secret', name: 's' }] },
    ],
    [
      'waits for a Secret whose content the cluster writes, and says what to mount in its place',
      {
        ...unpinned,
        template: templateOf(['Secret/s'], 1),
        sources: found({ ...secret('1', 'x'), type: 'kubernetes.io/service-account-token' }),
      },
      {
        kind: 'wait',
        reason: 'Uncopyable',
        message: expect.stringMatching(/^Secret s has the type .* mount a projected serviceAccountToken/),
      },
    ],
    [
      'marks a copy that nothing names',
      { ...atRest, copies: [...atRest.copies, copyFor(a('0'))] },
      { kind: 'collect', rolledBack: [], collection: { named: [], unused: [copyFor(a('0'))], marked: [] } },
    ],
    [
      'deletes it in another pass',
      { ...atRest, copies: [...atRest.copies, copyFor(a('0'), { isUnused: true })] },
      { kind: 'collect', collection: { named: [], unused: [], marked: [copyFor(a('0'), { isUnused: true })] } },
    ],
    [
      'deletes marked copies beside one that has no mark yet: that one may be without room for it',
      { ...atRest, copies: [...atRest.copies, copyFor(a('0')), copyFor(a('7'), { isUnused: true })] },
      { kind: 'collect', collection: { unused: [copyFor(a('0'))], marked: [copyFor(a('7'), { isUnused: true })] } },
    ],
    [
      'says which objects were rolled back, also while copies are collected',
      { ...rolledBack, copies: [...rolledBack.copies, copyFor(a('0'))] },
      { kind: 'collect', rolledBack: [{ kind: 'ConfigMap', name: 'a' }] },
    ],
    [
      'removes the mark of a copy before it is named',
      { ...unpinned, copies: [copyFor(a('1'), { isUnused: true })] },
      { kind: 'keepCopy', copy: { name: copyName(a('1'), owner) } },
    ],
    [
      'removes the mark of a copy that a revision names',
      { ...atRest, revisions: [pinned(pins(a('0')))], copies: [...atRest.copies, copyFor(a('0'), { isUnused: true })] },
      { kind: 'collect', collection: { named: [copyFor(a('0'), { isUnused: true })], unused: [], marked: [] } },
    ],
    [
      'deletes nothing until the DaemonSet controller has observed the template',
      { ...atRest, isObserved: false, copies: [...atRest.copies, copyFor(a('0'))] },
      { kind: 'none' },
    ],
    [
      'keeps a copy that a terminating pod names',
      { ...atRest, pods: [pinned(pins(a('0')))], copies: [...atRest.copies, copyFor(a('0'))] },
      { kind: 'none' },
    ],
  ])('%s', (_sentence, view, plan) => {
    expect(planPins(view)).toMatchObject(plan)
  })
})

it('the copy that was offered last is no garbage after a rollback: the next offer may be the same', () => {
  expect(garbageOf(rolledBack)).toEqual([])
})

describe('two processes', () => {
  /** A DaemonSet whose template names the copy of content 0. */
  function settled(): PinWorld {
    const world = new PinWorld()
    world.apply(() => templateOf(['ConfigMap/a'], 1), false)
    world.setSource('ConfigMap/a', 0)
    run(world, 0, 4)
    world.see()
    world.sync()
    return world
  }

  it('that deletes a copy makes the patch fail in which a frozen one names it', () => {
    const world = settled()
    world.setSource('ConfigMap/a', 1)
    run(world, 0, 1)
    const frozen = decide(world, 0)?.()
    world.setSource('ConfigMap/a', 0)
    run(world, 1, 4)
    expect(world.deleted).toHaveLength(1)
    finish(frozen ?? null)
    expect(world.missing()).toEqual([])
    expect(parsePins(world.state.daemonSet.offered)).toEqual(pinsOf(world.state.daemonSet.template))
  })

  it('that sees too few revisions deletes no copy that one of them names', () => {
    const world = settled()
    world.refresh(1, 'revisions')
    world.setSource('ConfigMap/a', 1)
    run(world, 0, 3)
    world.see()
    world.sync()
    world.undo(0)
    world.see()
    world.sync()
    world.setSource('ConfigMap/a', 0)
    run(world, 0, 3)
    for (let pass = 0; pass < 4; pass++) {
      for (const part of ['daemonSet', 'sources', 'copies', 'pods'] as const) world.refresh(1, part)
      finish(world.decide(1))
    }
    expect(world.missing()).toEqual([])
  })
})

describe('a template', () => {
  it.each<[sentence: string, view: PinView, expected: boolean]>([
    ['is pinned at rest', atRest, true],
    ['is pinned while its objects have a later content', { ...atRest, sources: found(a('2')) }, true],
    ['is pinned while its object cannot be read', { ...atRest, sources: new Map([['ConfigMap/a', { kind: 'unread', why: 'x' }]]) }, true],
    ['is not pinned without the annotation', { ...atRest, template: unpinned.template }, false],
    [
      'is not pinned where it reads one object more',
      { ...atRest, template: pinned(pins(a('1')), ['ConfigMap/a', 'ConfigMap/b']), sources: found(a('1'), b('1')) },
      false,
    ],
    ['is not pinned while a copy is gone', { ...atRest, copies: [] }, false],
    ['needs no copy of an object that does not exist', { ...unpinned, sources: new Map([['ConfigMap/a', { kind: 'absent' }]]) }, true],
    ['needs no copy of a kind that is not copied', { ...unpinned, kinds: ['Secret'] }, true],
  ])('%s', (_, view, expected) => {
    expect(isPinned(view)).toBe(expected)
  })
})

function run(world: PinWorld, process: number, passes: number): void {
  for (let pass = 0; pass < passes; pass++) finish(decide(world, process))
}

function decide(world: PinWorld, process: number): Step | null {
  for (const part of ['daemonSet', 'sources', 'copies', 'revisions', 'pods'] as const) world.refresh(process, part)
  return world.decide(process)
}

function finish(step: Step | null): void {
  for (let next = step; next !== null; ) next = next()
}
