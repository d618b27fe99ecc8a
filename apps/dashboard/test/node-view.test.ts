import type { NodeReport, RolloutReport } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { eventKeys } from '../src/format/event-keys.ts'
import { neighboursOf } from '../src/pages/node/neighbours.ts'
import { inspectCommands, omissionText, versionsOn } from '../src/pages/node/node-texts.ts'
import { node, report } from './builders.ts'

describe('the neighbours of a node', () => {
  const nodes = new Map(
    [
      node('node-10', { state: 'failing' }),
      node('node-9', { state: 'failing' }),
      node('node-11', { state: 'failing' }),
      node('node-1', { state: 'old' }),
    ].map((one) => [one.name, one]),
  )

  it.each([
    ['of the first', 'node-9', { position: 1, count: 3, previous: null, next: 'node-10' }],
    ['of one between', 'node-10', { position: 2, count: 3, previous: 'node-9', next: 'node-11' }],
    ['of the last', 'node-11', { position: 3, count: 3, previous: 'node-10', next: null }],
    ['of the only one in its state', 'node-1', { position: 1, count: 1, previous: null, next: null }],
    ['of an unknown one', 'node-2', null],
  ])('%s are in its state, in the order in which people count', (_title, name, want) => {
    expect(neighboursOf(nodes, name)).toEqual(want)
  })
})

describe('the versions on a node', () => {
  it.each<[string, Partial<NodeReport>, Partial<RolloutReport>, string | undefined]>([
    ['the new images with the canary revision', { role: 'canary' }, {}, 'v2'],
    ['the previous images with the stable revision', { role: 'stable' }, {}, 'v1'],
    ['unknown with another revision', { role: 'superseded' }, {}, undefined],
    ['unknown if the stable revision has left the history', { role: 'stable' }, { stableImages: undefined }, undefined],
    ['unknown if the images are hidden', { role: 'canary' }, { images: [] }, undefined],
  ])('are %s', (_title, changes, more, want) => {
    expect(versionsOn(node('a', changes), report(more))).toBe(want)
  })
})

describe('events that are left out', () => {
  const permission = 'list events in namespace "default"'
  it.each([
    ['because the user has no right', { of: 'node', lacks: 'caller', permission }, `of the node are left out: you may not ${permission}`],
    [
      'because the API has no right',
      { of: 'pod', lacks: 'api', permission },
      `of the pod are left out: the account of the API may not ${permission}`,
    ],
  ] as const)('are named, %s', (_title, omission, want) => {
    expect(omissionText(omission)).toBe(`Events ${want}.`)
  })
})

describe('the keys of events', () => {
  it('differ for events that look the same, and stay when an event is added', () => {
    const event = { at: '2026-03-01T10:00:00Z', type: 'Warning', reason: 'BackOff', object: 'Pod/a', message: 'm' } as const
    const [first, second] = eventKeys([event, event])
    expect(first).not.toBe(second)
    expect(eventKeys([{ ...event, message: 'newer' }, event, event]).slice(1)).toEqual([first, second])
  })
})

describe('the commands for details and logs', () => {
  it.each<[string, NodeReport | undefined, readonly string[]]>([
    [
      'show the pod',
      node('a', { pod: 'agent-x' }),
      ['kubectl describe pod agent-x --namespace demo', 'kubectl logs agent-x --namespace demo --all-containers'],
    ],
    [
      'show the logs before a restart',
      node('a', { pod: 'agent-x', restarts: 2 }),
      ['kubectl describe pod agent-x --namespace demo', 'kubectl logs agent-x --namespace demo --all-containers --previous'],
    ],
    ['show the node without a pod', node('a'), ['kubectl describe node a']],
    ['show the node without a report', undefined, ['kubectl describe node a']],
    [
      'keep a shell from running a name',
      node('a', { pod: 'x; rm -rf $HOME' }),
      ["kubectl describe pod 'x; rm -rf $HOME' --namespace demo", "kubectl logs 'x; rm -rf $HOME' --namespace demo --all-containers"],
    ],
  ])('%s', (_title, one, want) => {
    expect(inspectCommands('demo', 'a', one)).toEqual(want)
  })
})
