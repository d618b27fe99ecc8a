import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const ours = 'controller-1'
const OFFERED = 'tranche.dev/offered-config'
const copy = { immutable: true }

/** The template reads the ConfigMap agent, which holds 1; its copy exists, and no template names it yet. */
function begin(): Script {
  return fleet().configMap('agent', '1').configMap('agent-1', '1', copy, ours)
}

/** We name a copy in the template. */
function pin(s: Script, name: string, fields: Fields = {}): Script {
  const pins = `ConfigMap/agent=${name}`
  const annotations = { 'rollouts.kruise.io/daemonset-original-update-strategy': 'RollingUpdate', [OFFERED]: pins }
  return s.daemonSet({ template: `template-${name}`, unpinned: 'template-2', pins, annotations, ...fields }, ours)
}

/** The revision p1 names the copy agent-1. */
function pinned(): Script {
  return pin(begin(), 'agent-1').revision('p1', 'template-agent-1', { pins: 'ConfigMap/agent=agent-1' })
}

const ofP1 = { hash: 'p1', uid: 'e1', node: 'e' }
const created = (s: Script, config: readonly string[]): Script => s.pod('e1', { ...ofP1, config })

describe('a pod of a revision that names copies', () => {
  judgeEach(
    'G3',
    [
      ['may read the copy', (s) => created(s, ['agent-1']), []],
      ['may read other ConfigMaps beside it', (s) => created(s, ['agent-1', 'other']), []],
      ['must not read the object itself', (s) => created(s, ['agent']), ['G3 e']],
      [
        'must not read a copy that is not immutable',
        (s) => created(s.configMap('agent-1', '1', { immutable: false }), ['agent-1']),
        ['G3 e'],
      ],
      [
        'must not read an object with other content that a user has put in the place of the copy, immutable or not',
        (s) => created(s.configMap('agent-1', null).configMap('agent-1', '7', copy), ['agent-1']),
        ['G3 e'],
      ],
      [
        'may read a copy that a user has put back with its content, though the object has another one by now',
        (s) => created(s.configMap('agent', '2').configMap('agent-1', null).configMap('agent-1', '1', copy), ['agent-1']),
        [],
      ],
      ['is not judged by a copy that a user has deleted', (s) => created(s.configMap('agent-1', null), ['agent-1']), []],
    ],
    { begin: pinned },
  )
})

describe('a pod of a revision without copies', () => {
  judgeEach('G3', [['may read the object itself', (s) => s.pod('e1', { hash: 'v2', node: 'e', config: ['agent'] }), []]])
})

/** The template names no copy any more. */
function takeOut(s: Script, actor: string): Script {
  return s.daemonSet({ template: 'template-2', unpinned: undefined, pins: undefined }, actor)
}

describe('config in the template', () => {
  const rolling = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }
  judgeEach(
    'G3',
    [
      ['is brought in under OnDelete', (s) => pin(s, 'agent-1'), []],
      ['must not be brought in under RollingUpdate', (s) => pin(s, 'agent-1', rolling), ['G3']],
    ],
    { begin },
  )
  const second = (s: Script): Script => s.configMap('agent', '2').configMap('agent-2', '2', copy, ours)
  const undone = { template: 'template-agent-1', unpinned: 'template-2', pins: 'ConfigMap/agent=agent-1' }
  const undo = (s: Script): Script => s.daemonSet(undone)
  judgeEach(
    'G11',
    [
      ['may have the content of the object', (s) => pin(second(s), 'agent-2'), []],
      ['may have a content of the object that changed meanwhile', (s) => pin(second(s).configMap('agent', '3'), 'agent-2'), []],
      ['must not have another content', (s) => pin(s.configMap('agent-2', '2', copy, ours), 'agent-2'), ['G11']],
      [
        'must not have a content that the object had before the DaemonSet was written last',
        (s) =>
          pin(
            second(s)
              .configMap('agent', '3')
              .annotate({ [OFFERED]: 'ConfigMap/agent=agent-1' }),
            'agent-2',
          ),
        ['G11'],
      ],
      ['must not be a copy that does not exist', (s) => pin(s, 'agent-2'), ['G11']],
    ],
    { begin: pinned },
  )
  judgeEach(
    'G12',
    [
      [
        'may be new after a rollback',
        (s) =>
          pin(
            undo(pin(second(s), 'agent-2'))
              .configMap('agent', '3')
              .configMap('agent-3', '3', copy, ours),
            'agent-3',
          ),
        [],
      ],
      [
        'may come back after a rollback where a user has changed the object, and then back',
        (s) =>
          pin(
            undo(pin(second(s), 'agent-2'))
              .configMap('agent', '1')
              .configMap('agent', '2'),
            'agent-2',
          ),
        [],
      ],
      [
        'may get another copy of its content where a user has taken the name of the first one',
        (s) => pin(s.configMap('agent-1', null).configMap('agent-1', '7', copy).configMap('agent-1-salt', '1', copy, ours), 'agent-1-salt'),
        [],
      ],
      ['must not come back after a rollback', (s) => pin(undo(pin(second(s), 'agent-2')), 'agent-2'), ['G12']],
      [
        'must not come back where the rollback took every copy out of the template',
        (s) => pin(takeOut(pin(s, 'agent-1'), ours), 'agent-1'),
        ['G12'],
      ],
      [
        'may come back after such a rollback where a user has written the Rollout',
        (s) => pin(takeOut(pin(s, 'agent-1'), ours).rollout({ metadata: { annotations: { action: 'retry' } } }), 'agent-1'),
        [],
      ],
      [
        'may come back after such a rollback where a user has written the template',
        (s) => pin(takeOut(takeOut(pin(s, 'agent-1'), ours).daemonSet({ template: 'template-3' }), 'user'), 'agent-1'),
        [],
      ],
      [
        'may come back after such a rollback with other content of another object',
        (s) => {
          const both = takeOut(pin(s, 'agent-1'), ours).configMap('other', '7').configMap('other-7', '7', copy, ours)
          return pin(both, 'agent-1', { pins: 'ConfigMap/agent=agent-1,ConfigMap/other=other-7' })
        },
        [],
      ],
      [
        'may come back where a user has removed the annotation',
        (s) => pin(pin(second(s), 'agent-2').daemonSet({ template: 'template-2', unpinned: undefined, pins: undefined }), 'agent-2'),
        [],
      ],
    ],
    { begin: pinned },
  )
})

describe('a copy', () => {
  judgeEach(
    'G7',
    [
      ['may be deleted by a user', (s) => s.configMap('agent-1', null), []],
      ['must not be deleted while a revision names it', (s) => s.configMap('agent-1', null, {}, ours), ['G7']],
      ['may be deleted when nothing names it', (s) => s.configMap('agent-2', '2', copy, ours).configMap('agent-2', null, {}, ours), []],
    ],
    { begin: pinned },
  )
})

describe('a copy of a Secret, like one of a ConfigMap,', () => {
  const PINS = 'Secret/token=token-1'
  const annotations = { 'rollouts.kruise.io/daemonset-original-update-strategy': 'RollingUpdate', [OFFERED]: PINS }
  const name = (s: Script, fields: Fields = {}): Script =>
    s.daemonSet({ template: 'template-token-1', unpinned: 'template-2', pins: PINS, annotations, ...fields }, ours)
  const beginSecret = (): Script => fleet().secret('token', '1').secret('token-1', '1', copy, ours)
  const secretPinned = (): Script => name(beginSecret()).revision('p1', 'template-token-1', { pins: PINS })
  judgeEach(
    'G3',
    [
      ['is read by a pod', (s) => s.pod('e1', { ...ofP1, secrets: ['token-1'] }), []],
      ['is read in place of the Secret', (s) => s.pod('e1', { ...ofP1, secrets: ['token'] }), ['G3 e']],
      [
        'says nothing of a ConfigMap with the name of the Secret',
        (s) => s.pod('e1', { ...ofP1, config: ['token'], secrets: ['token-1'] }),
        [],
      ],
      ['is immutable', (s) => s.secret('token-1', '1', { immutable: false }).pod('e1', { ...ofP1, secrets: ['token-1'] }), ['G3 e']],
    ],
    { begin: secretPinned },
  )
  judgeEach(
    'G11',
    [
      ['has its content and its type', (s) => name(s), []],
      ['has no other content', (s) => name(s.secret('token-1', null, {}, ours).secret('token-1', '2', copy, ours)), ['G11']],
      [
        'has no other type',
        (s) => name(s.secret('token-1', null, {}, ours).secret('token-1', '1', { ...copy, type: 'tls' }, ours)),
        ['G11'],
      ],
      ['is no ConfigMap', (s) => name(s.secret('token-1', null, {}, ours).configMap('token-1', '1', copy, ours)), ['G11']],
    ],
    { begin: beginSecret },
  )
  judgeEach(
    'G7',
    [
      ['is not deleted while a revision names it', (s) => s.secret('token-1', null, {}, ours), ['G7']],
      [
        'is not deleted with a ConfigMap of its name',
        (s) => s.configMap('token-1', '1', copy, ours).configMap('token-1', null, {}, ours),
        [],
      ],
    ],
    { begin: secretPinned },
  )
})
