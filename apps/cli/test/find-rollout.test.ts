import type { RolloutSummary } from '@tranche/api-schema'
import type { ReleaseClient } from '@tranche/release-client'
import { describe, expect, it } from 'vitest'
import { explainMissing, findRollout } from '../src/release-client/find-rollout.ts'
import { done } from './release-pictures.ts'

const two = [rollout('node-agent'), rollout('log-agent', 'logs')]

describe('findRollout', () => {
  const found: Record<string, { named: string | undefined; among?: readonly RolloutSummary[]; name: string }> = {
    'by its name, without a lookup': { named: 'anything', among: [], name: 'anything' },
    'as kubectl names it': { named: 'rollout/node-agent', name: 'node-agent' },
    'as -o name prints it': { named: 'rollout.rollouts.kruise.io/node-agent', name: 'node-agent' },
    'by its DaemonSet': { named: 'daemonset/logs', name: 'log-agent' },
    'by its DaemonSet in short': { named: 'ds/logs', name: 'log-agent' },
    'without a name, if there is only one': { named: undefined, among: two.slice(0, 1), name: 'node-agent' },
  }

  it.each(Object.entries(found))('finds a Rollout %s', async (_how, { named, among = two, name }) => {
    await expect(findRollout(releaseClientOf(among), 'demo', { named, command: 'get' })).resolves.toEqual({ namespace: 'demo', name })
  })

  const refused: Record<
    string,
    {
      named: string | undefined
      among?: readonly RolloutSummary[]
      commandFor?: (name: string) => string
      code: string
      message: string
      hint: string
    }
  > = {
    'nothing if there are several': {
      named: undefined,
      code: 'NAME_AMBIGUOUS',
      message: 'namespace demo has 2 Rollouts: node-agent, log-agent',
      hint: 'Name one of them: tranche get node-agent -n demo.',
    },
    'nothing if there are several, and keeps the other arguments': {
      named: undefined,
      commandFor: (name) => `explain node-1 --rollout ${name}`,
      code: 'NAME_AMBIGUOUS',
      message: 'namespace demo has 2 Rollouts: node-agent, log-agent',
      hint: 'Name one of them: tranche explain node-1 --rollout node-agent -n demo.',
    },
    'by its short DaemonSet name': {
      named: undefined,
      among: [1, 2, 3, 4, 5, 6, 7].map((at) => rollout(`agent-${at}`)),
      code: 'NAME_AMBIGUOUS',
      message: 'namespace demo has 7 Rollouts: agent-1, agent-2, agent-3, agent-4, agent-5 and 2 more',
      hint: 'Name one of them: tranche get agent-1 -n demo.',
    },
    'nothing if there are none': {
      named: undefined,
      among: [],
      code: 'ROLLOUT_NOT_FOUND',
      message: 'there are no Rollouts in namespace demo',
      hint: 'Choose a namespace with -n; tranche list -A shows all Rollouts.',
    },
    'a DaemonSet without a Rollout': {
      named: 'ds/log',
      code: 'ROLLOUT_NOT_FOUND',
      message: 'no Rollout in namespace demo references a DaemonSet log',
      hint: 'Did you mean logs? tranche list shows all of them.',
    },
    'another kind': {
      named: 'deployment/node-agent',
      code: 'OPTION_INVALID',
      message: '"deployment/node-agent" names no Rollout',
      hint: 'Write NAME, rollout/NAME or daemonset/NAME, and the namespace with -n.',
    },
  }

  it.each(Object.entries(refused))('refuses %s', async (_what, { named, among = two, commandFor, ...error }) => {
    await expect(findRollout(releaseClientOf(among), 'demo', { named, command: 'get', commandFor })).rejects.toMatchObject(error)
  })

  it('finds a Rollout in any namespace, among those with the labels', async () => {
    const asked: object[] = []
    const there = { ...rollout('node-agent'), namespace: 'agents' }
    const names = async (options: object): Promise<readonly RolloutSummary[]> => {
      asked.push(options)
      return [there]
    }
    const search = { named: 'node-agent', command: 'get', allNamespaces: true, selector: 'team=storage' }
    await expect(findRollout({ names }, 'demo', search)).resolves.toEqual({ namespace: 'agents', name: 'node-agent' })
    expect(asked).toEqual([{ labelSelector: 'team=storage' }])
  })

  it('lists the candidates of all namespaces', async () => {
    const both = [rollout('node-agent'), { ...rollout('node-agent'), namespace: 'agents' }]
    const search = { named: 'node-agent', command: 'get', allNamespaces: true }
    await expect(findRollout(releaseClientOf(both), 'demo', search)).rejects.toMatchObject({
      code: 'NAME_AMBIGUOUS',
      message: 'there are 2 such Rollouts: demo/node-agent, agents/node-agent',
      hint: 'Name one of them: tranche get node-agent -n demo.',
    })
  })

  it('suggests the closest name for a missing one', async () => {
    await expect(explainMissing(releaseClientOf(two), { namespace: 'demo', name: 'nod-agent' })).resolves.toMatchObject({
      code: 'ROLLOUT_NOT_FOUND',
      message: 'there is no Rollout nod-agent in namespace demo',
      hint: 'Did you mean node-agent? tranche list shows all of them.',
    })
  })

  it('suggests no name that is too different', async () => {
    await expect(explainMissing(releaseClientOf(two), { namespace: 'demo', name: 'typo' })).resolves.toMatchObject({
      hint: 'tranche list shows all of them.',
    })
  })
})

function rollout(name: string, daemonSet = name): RolloutSummary {
  return { ...done.report, name, daemonSet }
}

function releaseClientOf(rollouts: readonly RolloutSummary[]): Pick<ReleaseClient, 'names'> {
  return { names: async () => rollouts }
}
