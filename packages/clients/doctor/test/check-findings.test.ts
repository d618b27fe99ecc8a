import { readFileSync } from 'node:fs'
import { AppError } from '@tranche/errors'
import { describe, expect, it } from 'vitest'
import { checkFindings } from '../src/checks/check-findings.ts'
import type { ClusterSigns } from '../src/signs/cluster-signs.ts'
import type { InstalledPod } from '../src/signs/installed-signs.ts'
import { toHeldDaemonSet } from '../src/signs/left-signs.ts'
import { toRolloutSign } from '../src/signs/rollout-signs.ts'
import { readRedisSign } from '../src/signs/read-redis-sign.ts'
import { type ReleaseSign, toReleaseSign } from '../src/signs/release-signs.ts'
import { command, denied, ill, NOW_MS, pod, rolloutSign, well } from './doctor-signs.ts'

describe('the doctor', () => {
  const states = (signs: ClusterSigns): Record<string, string> =>
    Object.fromEntries(checkFindings(signs, command).map(({ check, state }) => [check, state]))

  it.each([
    ['where all is well', well],
    ['where nothing is', ill],
  ])('reports sentences with their fixes: %s', async (name, signs) => {
    const lines = checkFindings(signs, command).flatMap(({ check, state, message, fix = '', command: line = '' }) =>
      [`${state} ${check}: ${message}`, `  ${fix}`, `  $ ${line}`].filter((text) => !/^ +\$? *$/.test(text)),
    )
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/${name.replaceAll(' ', '-')}.txt`)
  })

  it('finds no problem in a healthy cluster', () => {
    expect(new Set(Object.values(states(well)))).toEqual(new Set(['ok']))
  })

  it('suggests a fix for every problem', () => {
    for (const { state, fix, command: line } of checkFindings(ill, command))
      if (state !== 'ok') expect(fix).toMatch(line === undefined ? /\.$/ : /:$/)
  })

  it('reports what it may not read as unknown, with the missing right', () => {
    const signs = Object.fromEntries(readSigns.map((name) => [name, denied]))
    const found = checkFindings({ ...well, ...signs, rolloutNamespaces: [], skewMs: null }, command)
    expect(new Set(found.map(({ state }) => state))).toEqual(new Set(['unknown']))
    expect(found.filter(({ message }) => !message.includes('you may not list things.example'))).toEqual([])
  })

  it('names the account that lacks a right', () => {
    const found = checkFindings({ ...well, kruise: { ...denied, who: 'the service account of the REST API' } }, command)
    expect(found).toContainEqual({
      check: 'openkruise',
      state: 'unknown',
      message: 'the service account of the REST API may not list things.example',
    })
  })

  it('names the program that checks, and reports missing rights for the command line as a note if that program does not need them', () => {
    const api = { name: 'the REST API', machine: 'the REST API', version: '0.2.0', needsRights: false }
    const found = Object.fromEntries(checkFindings({ ...ill, rightsNamespace: '' }, api).map(({ check, ...one }) => [check, one]))
    expect(found['clock']?.message).toBe('the clock of the REST API is 1m35s ahead of the API server')
    expect(found['versions']?.message).toBe('controller is 0.1.0, executor is 0.4.0, and the REST API is 0.2.0')
    expect(found['rights']).toMatchObject({
      state: 'note',
      message:
        'in all namespaces, you may not list rollouts.rollouts.kruise.io, patch daemonsets.apps: commands without --server need that',
    })
  })

  it('checks no endless number of permissions', () => {
    expect(checkFindings({ ...well, accounts: { tooMany: 10_000 } }, command)).toContainEqual({
      check: 'accounts',
      state: 'unknown',
      message: 'not checked: pods with the labels of the chart need more than 10000 permissions',
    })
  })

  it('detects a controller without leader election by the status of Rollouts', () => {
    expect(states({ ...well, leader: null })).toMatchObject({ controller: 'ok' })
    expect(states({ ...well, leader: null, rollouts: [rolloutSign(), rolloutSign({ isAnswered: false })] })).toMatchObject({
      controller: 'problem',
    })
    expect(states({ ...well, leader: null, rollouts: denied })).toMatchObject({ controller: 'problem' })
  })

  it('does not know whether a controller runs on a cluster with neither a Lease nor a Rollout', () => {
    const { fix, ...found } =
      checkFindings({ ...well, leader: null, rollouts: [] }, command).find(({ check }) => check === 'controller') ?? {}
    expect(found).toMatchObject({
      state: 'note',
      message: expect.stringMatching(/^unknown whether one runs: there is no Lease /) as string,
    })
    expect(fix).toBe('If none runs, start one: tranche controller, or tranche all-in-one.')
  })

  it.each([
    [2_000, 'ok'],
    [14_000, 'ok'],
    [16_000, 'problem'],
    [29_000, 'problem'],
  ] as const)('reports a leader that has not renewed its 15 s Lease for %i ms as frozen: %s', (ageMs, state) => {
    const leader = { holder: 'tranche-1', renewedMs: NOW_MS - ageMs, lengthMs: 15_000 }
    expect(states({ ...well, leader, skewMs: 0 })).toMatchObject({ controller: state })
  })

  const release: ReleaseSign = {
    namespace: 'demo',
    name: 'node-agent',
    isIdle: true,
    isUndeleted: false,
    writtenMs: NOW_MS - 300_000,
    executorMs: null,
  }
  const executors: Record<string, { signs: Partial<ClusterSigns>; state: string; says: RegExp }> = {
    'one that is ready': { signs: {}, state: 'ok', says: /^1 of 1 executors ready$/ },
    'one that is ready and whose deletions are rejected': {
      signs: { releases: [{ ...release, isUndeleted: true }] },
      state: 'problem',
      says: /^1 of 1 executors ready, but they do not delete the pods of demo\/node-agent$/,
    },
    'pods that stay, where no executor is known': {
      signs: { installed: [], releases: [{ ...release, isUndeleted: true, executorMs: NOW_MS - 5_000 }] },
      state: 'problem',
      says: /^the pods that executors may delete for demo\/node-agent are not deleted: no executor runs, or the API server rejects/,
    },
    'none that is ready': {
      signs: { installed: [pod('all-in-one', { isReady: false })] },
      state: 'problem',
      says: /^none of 1 executors is ready: releases do not progress$/,
    },
    'one without a pod of the chart, by its recent writes': {
      signs: { installed: [], releases: [{ ...release, executorMs: NOW_MS - 5_000 }] },
      state: 'ok',
      says: /^an executor wrote the record of demo\/node-agent 5s ago$/,
    },
    'a batch without an executor': {
      signs: { installed: denied, releases: [release] },
      state: 'problem',
      says: /^the batch of demo\/node-agent has nodes to update, but made no progress for 5m00s: no executor seems to run$/,
    },
    'a batch that has just begun': {
      signs: { installed: [], releases: [{ ...release, writtenMs: NOW_MS - 5_000 }] },
      state: 'note',
      says: /^unknown whether one runs: the chart has no pods here, and no release/,
    },
    'nothing that the user may read': {
      signs: { installed: [], releases: denied },
      state: 'unknown',
      says: /^you may not list things\.example$/,
    },
  }

  it.each(Object.entries(executors))('says of executors: %s', (_what, { signs, state, says }) => {
    const found = checkFindings({ ...well, ...signs }, command).find(({ check }) => check === 'executor')
    expect(found).toMatchObject({ state, message: expect.stringMatching(says) as string })
  })

  it.each([
    ['0.1.0', 'ok'],
    ['0.2.3', 'note'],
    ['0.3.0', 'problem'],
    ['1.1.0', 'problem'],
  ])('compares versions that run together: with 0.1.0, %s is %s', (own, state) => {
    expect(checkFindings(well, { ...command, version: own }).find(({ check }) => check === 'versions')).toMatchObject({ state })
  })

  it('detects a release without an executor by its status and field managers', () => {
    const object = {
      metadata: {
        namespace: 'demo',
        name: 'node-agent',
        managedFields: [
          { manager: 'tranche-controller', time: '2026-01-01T00:00:10Z' },
          { manager: 'tranche-executor', time: '2026-01-01T00:00:05Z' },
        ],
      },
      status: { canaryStatus: { batchState: 'Upgrading' }, flight: { state: 'open', permits: [] } },
    }
    const [writtenMs, executorMs] = [Date.UTC(2026, 0, 1, 0, 0, 10), Date.UTC(2026, 0, 1, 0, 0, 5)]
    expect(toReleaseSign(object as never)).toEqual({
      namespace: 'demo',
      name: 'node-agent',
      isIdle: true,
      isUndeleted: false,
      writtenMs,
      executorMs,
    })
  })

  it('does not blame a Redis that it cannot reach like the pods do, and prints no password', async () => {
    const { signal } = new AbortController()
    const unreachable = new AppError('REDIS_UNREACHABLE', 'Redis 127.0.0.1:1 does not answer')
    const prepareRedisCheck = async () => () => Promise.reject(unreachable)
    const look = (...redis: readonly InstalledPod['redis'][]) =>
      readRedisSign({ named: null, prepareRedisCheck, installed: redis.map((one) => pod('executor', { redis: one })), signal })
    const closed = { kind: 'url', url: 'redis://me:secret@127.0.0.1:1', hasPassword: false } as const
    await expect(look(null)).resolves.toEqual({ kind: 'none' })
    await expect(look()).resolves.toEqual({ kind: 'unknown' })
    await expect(readRedisSign({ named: null, prepareRedisCheck, installed: denied, signal })).resolves.toEqual(denied)
    const without = { named: null, prepareRedisCheck: null, installed: [pod('executor', { redis: closed })], signal }
    await expect(readRedisSign(without)).resolves.toMatchObject({ kind: 'hidden', why: 'only controllers and executors connect to it' })
    const unreached = await look(closed, closed)
    expect(unreached).toMatchObject({ kind: 'hidden', name: 'Redis redis://127.0.0.1:1' })
    expect(JSON.stringify(unreached)).not.toContain('secret')
    await expect(look({ ...closed, hasPassword: true })).resolves.toMatchObject({
      kind: 'hidden',
      why: 'only the pods know the password',
    })
    await expect(look({ kind: 'secret', namespace: 'tranche', name: 'redis', key: 'url' })).resolves.toMatchObject({
      kind: 'hidden',
      name: 'the Redis of Secret tranche/redis (url)',
    })
    await expect(look(closed, { ...closed, url: 'redis://other:6379' })).resolves.toMatchObject({ kind: 'several' })
  })

  it.each<[string, Partial<ClusterSigns>, readonly (readonly [string, RegExp])[]]>([
    ['nothing while a controller leads', { daemonSets: [{ namespace: 'demo', name: 'node-agent' }] }, []],
    [
      'Rollouts whose deletion waits, and DaemonSets without a controller',
      {
        leader: null,
        rollouts: [rolloutSign({ isLeaving: true, isAnswered: false })],
        daemonSets: [{ namespace: 'demo', name: 'node-agent' }],
      },
      [
        ['problem', /^no controller runs to finish the deletion: Rollout demo\/node-agent$/],
        ['note', /only after its pod is deleted: DaemonSet demo\/node-agent \(OnDelete\)$/],
      ],
    ],
    [
      'DaemonSets of a deleted Rollout, with or without a controller',
      { daemonSets: Array.from({ length: 7 }, (_, at) => ({ namespace: 'other', name: `agent-${at}` })) },
      [['note', /^left on OnDelete by a deleted Rollout: DaemonSet other\/agent-0, .*, other\/agent-4 and 2 more$/]],
    ],
    [
      'no DaemonSet whose Rollout may be in a namespace that was not read',
      {
        rolloutNamespaces: ['demo'],
        daemonSets: [
          { namespace: 'demo', name: 'left' },
          { namespace: 'other', name: 'agent' },
        ],
      },
      [['note', /^left on OnDelete by a deleted Rollout: DaemonSet demo\/left$/]],
    ],
    [
      'a Rollout without a spec, with a controller',
      { rollouts: [rolloutSign({ lacksSpec: true, workload: '' })] },
      [['problem', /^left out, because it has no spec: Rollout demo\/node-agent$/]],
    ],
    [
      'nothing without the right to list Rollouts',
      { rollouts: denied, daemonSets: [{ namespace: 'demo', name: 'agent' }] },
      [['unknown', /^you may not list things\.example$/]],
    ],
  ])('reports what is left behind: %s', (_what, signs, expected) => {
    const found = checkFindings({ ...well, ...signs }, command).filter(({ check }) => check === 'left')
    expect(found).toEqual(
      expected.map(([state, says]) => expect.objectContaining({ state, message: expect.stringMatching(says) as string })),
    )
  })

  it('reads a Rollout without a spec as one that needs no answer', () => {
    const metadata = { namespace: 'demo', name: 'empty', uid: 'u', resourceVersion: '1', generation: 1 }
    expect(toRolloutSign({ metadata })).toMatchObject({ name: 'empty', workload: '', lacksSpec: true, isAnswered: true })
  })

  it('names existing objects in suggested commands', () => {
    const [{ command: line } = {}] = checkFindings(
      { ...well, leader: null, rollouts: [rolloutSign({ isLeaving: true, isAnswered: false })] },
      command,
    ).filter(({ check }) => check === 'left')
    expect(line).toContain('kubectl patch rollouts.rollouts.kruise.io node-agent -n demo --type=merge')
  })

  it('returns a left DaemonSet to Kubernetes by the two commands of the README', () => {
    const [{ command: line = '' } = {}] = checkFindings({ ...well, daemonSets: [{ namespace: 'other', name: 'agent' }] }, command).filter(
      ({ check }) => check === 'left',
    )
    const readme = readFileSync('README.md', 'utf8')
    for (const one of line
      .split(' && ')
      .map((text) => text.replace(/^kubectl (\w+) daemonset agent -n other /, '$1 daemonset node-agent ')))
      expect(readme).toContain(`kubectl -n demo ${one}\n`)
    expect(line.split(' && ')).toHaveLength(2)
  })

  it('distinguishes DaemonSets of a Rollout from others on OnDelete', () => {
    const daemonSet = (type: string, annotations: object) =>
      toHeldDaemonSet({ metadata: { namespace: 'demo', name: 'a', annotations }, spec: { updateStrategy: { type } } } as never)
    expect(daemonSet('OnDelete', { 'tranche.dev/rollout': 'a' })).toEqual({ namespace: 'demo', name: 'a' })
    expect(daemonSet('OnDelete', { 'tranche.dev/frozen': '{}' })).toEqual({ namespace: 'demo', name: 'a' })
    expect(daemonSet('RollingUpdate', { 'tranche.dev/rollout': 'a' })).toBeNull()
    expect(daemonSet('OnDelete', {})).toBeNull()
  })

  it('names Rollouts whose config is not part of the version, and asks for no right more', () => {
    const rollouts = [rolloutSign({ name: 'with-hash' }), ...['a', 'b'].map((name) => rolloutSign({ name, hasUnversionedConfig: true }))]
    const found = checkFindings({ ...well, rollouts }, command).filter(({ check }) => check === 'config')
    expect(found).toMatchObject([
      { state: 'note', message: expect.stringMatching(/: Rollout demo\/a, demo\/b$/), command: expect.stringContaining(' a -n demo') },
    ])
  })

  it.each<[sentence: string, signs: Partial<ClusterSigns>, state: string, message: RegExp]>([
    [
      'names Rollouts that hold because config is not pinned',
      { rollouts: [rolloutSign({ isUnpinned: true })] },
      'problem',
      /: Rollout demo\/node-agent$/,
    ],
    [
      'says that the policy for pods is missing',
      { podPolicies: [{ name: 'tranche-pods', fault: 'there is none' }] },
      'problem',
      /: there is none$/,
    ],
    ['says that the policy for pods is well', { podPolicies: [{ name: 'tranche-pods', fault: null }] }, 'ok', /tranche-pods names copies/],
  ])('%s', (_sentence, signs, state, message) => {
    const found = checkFindings({ ...well, ...signs }, command).filter(({ check }) => check === 'config')
    expect(found).toMatchObject([{ state, message: expect.stringMatching(message) as string }])
  })

  it('counts a Rollout only while its condition ConfigUnversioned is True', () => {
    const signOf = (status: string) =>
      toRolloutSign({
        metadata: {},
        spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' } },
        status: {
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'ConfigUnversioned', status },
          ],
        },
      } as never)
    expect([signOf('True'), signOf('False')].map((sign) => sign?.hasUnversionedConfig)).toEqual([true, false])
  })

  it('compares Leases with the clock of the server, not the local one', () => {
    const ours = { ...well, nowMs: NOW_MS + 600_000, skewMs: -600_000 }
    expect(states(ours)).toMatchObject({ controller: 'ok', clock: 'problem' })
  })

  it('does not count a Rollout of another workload as unanswered by the controller', () => {
    const rolloutOf = (kind: string, status?: object) =>
      toRolloutSign({ metadata: { generation: 2 }, spec: { workloadRef: { apiVersion: 'apps/v1', kind, name: 'agent' } }, status } as never)
    const rollouts = [rolloutOf('Deployment'), rolloutOf('DaemonSet', { observedGeneration: 2 }), rolloutOf('DaemonSet')]
    expect(rollouts.map((sign) => sign?.isAnswered)).toEqual([undefined, true, false])
  })

  it.each([
    ['being disabled', 'Disabling', { disabled: true }, {}, true],
    ['enabled again', 'Disabling', { disabled: false }, {}, false],
    ['being deleted', 'Terminating', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }, true],
    ['disabled, and its status does not say so', 'Progressing', { disabled: true }, {}, false],
  ])('counts a Rollout that is %s as handled only if its phase says so', (_what, phase, spec, metadata, want) => {
    const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }
    const rollout = { metadata: { generation: 2, ...metadata }, spec: { workloadRef, ...spec }, status: { observedGeneration: 1, phase } }
    expect(toRolloutSign(rollout as never)?.isAnswered).toBe(want)
  })
})

/** Signs that are read with a right of the user. */
const readSigns = [
  'version',
  'served',
  'schemaGap',
  'rights',
  'leader',
  'rollouts',
  'policies',
  'daemonSets',
  'kruise',
  'admission',
  'installed',
  'accounts',
  'podPolicies',
  'releases',
  'webhooks',
  'redis',
] as const satisfies readonly (keyof ClusterSigns)[]
