import { pinProspects } from '@tranche/config'
import { expect, it } from 'vitest'

const map = (name: string, optional?: boolean): object => ({ configMap: { name, ...(optional !== undefined && { optional }) } })
const volumes = (...sources: readonly object[]): object => ({
  spec: { volumes: sources.map((source, at) => ({ name: `v${at}`, ...source })) },
})

it.each<[string, object, readonly string[], readonly string[]]>([
  ['a ConfigMap', volumes(map('agent')), [], ['ConfigMap agent: pinned']],
  ['one that is named by a hash', volumes(map('agent-7g2kc9hb4m')), [], []],
  ['a Secret', volumes({ secret: { secretName: 'token' } }), [], ['Secret token: secret']],
  ['an optional ConfigMap', volumes(map('agent', true)), [], ['ConfigMap agent: optional']],
  ['an optional ConfigMap that exists', volumes(map('agent', true)), ['agent'], ['ConfigMap agent: pinned']],
  ['one that is optional in one of two fields', volumes(map('agent', true), map('agent', false)), [], ['ConfigMap agent: pinned']],
  ['an optional Secret', volumes({ secret: { secretName: 'token', optional: true } }), [], ['Secret token: optional']],
  [
    'an optional variable',
    { spec: { containers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'agent', key: 'a', optional: true } } }] }] } },
    [],
    ['ConfigMap agent: optional'],
  ],
  [
    'an optional source of a projected volume',
    volumes({ projected: { sources: [map('agent', true)] } }),
    [],
    ['ConfigMap agent: optional'],
  ],
  ['the Secret of a CSI driver', volumes({ csi: { nodePublishSecretRef: { name: 'token' } } }), [], ['Secret token: driver']],
  [
    'the Secret of a CSI driver that a container reads too',
    volumes({ csi: { nodePublishSecretRef: { name: 'token' } } }, { secret: { secretName: 'token' } }),
    [],
    ['Secret token: secret'],
  ],
  [
    'a field beyond the limits of its list, before all else',
    volumes(...Array.from({ length: 32 }, () => ({ emptyDir: {} })), map('agent', true)),
    [],
    ['ConfigMap agent: beyond at spec.template.spec.volumes[32].configMap.name'],
  ],
  ['no spec', {}, [], []],
])('pinning is predicted for %s', (_name, template, existing, expected) => {
  const found = pinProspects(template, ({ name }) => existing.includes(name))
  expect(
    found.map(({ kind, name, prospect, path }) => `${kind} ${name}: ${prospect}${prospect === 'beyond' ? ` at ${path}` : ''}`),
  ).toEqual(expected)
})
