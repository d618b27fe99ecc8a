import { configText, hasContentHash, judgeConfig } from '@tranche/config'
import { describe, expect, it } from 'vitest'

describe('a name', () => {
  it.each([
    ['of kustomize', 'agent-config-7g2kc9hb4m'],
    ['of kustomize without a digit', 'agent-config-bcdfghkmtb'],
    ['with eight hexadecimal characters', 'agent-config-1a2b3c4d'],
    ['with a whole digest', 'agent-config-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ['with a digest after a dot', 'agent.9f86d081884c'],
    ['with a short digest after sha', 'agent-config-sha-1a2b3c'],
    ['with a short digest after sha256', 'agent-config-sha256-1a2b3c'],
    ['with a short digest after checksum', 'agent-config-checksum-abcdef'],
    ['with digits that are no date', 'agent-config-20269981'],
    ['with thirteen digits', 'agent-config-1234567890123'],
    ['with twelve characters, one of them a letter', 'agent-config-12345678901a'],
  ])('%s carries a hash: %s', (_kind, name) => {
    expect(hasContentHash(name)).toBe(true)
  })

  it.each([
    ['without a suffix', 'agent-config'],
    ['with a version', 'agent-config-v2'],
    ['with nine characters of kustomize', 'agent-config-7g2kc9hb4'],
    ['with eleven characters of kustomize', 'agent-config-7g2kc9hb4mm'],
    ['with a character that kustomize replaces', 'agent-config-7g2kc9hb1m'],
    ['with seven hexadecimal characters', 'agent-config-1a2b3c4'],
    ['that is a hash alone', '1a2b3c4d5e'],
    ['with a date', 'agent-config-20261127'],
    ['with a date and a time', 'agent-config-20261127093000'],
    ['with the number of an account', 'agent-config-123456789012'],
    ['with a hexadecimal word', 'agent-config-deadbeef'],
    ['with a hash in the middle', 'agent-7g2kc9hb4m-config'],
    ['with five characters after sha', 'agent-config-sha-1a2b3'],
  ])('%s carries none: %s', (_kind, name) => {
    expect(hasContentHash(name)).toBe(false)
  })
})

const template = (names: readonly string[], annotations?: object): object => ({
  ...(annotations && { metadata: { annotations } }),
  spec: {
    volumes: names.map((name) => ({ name, configMap: { name } })),
    containers: [{ name: 'agent', volumeMounts: names.map((name) => ({ name })), envFrom: [{ secretRef: { name: 'token' } }] }],
  },
})

describe('config is part of the version', () => {
  const named = (...[of, isImmutable]: Parameters<typeof judgeConfig>) => judgeConfig(of, isImmutable)?.references.map(({ name }) => name)

  it('where every name carries a hash', () => {
    expect(judgeConfig({ spec: { volumes: [{ name: 'v', configMap: { name: 'agent-7g2kc9hb4m' } }] } })).toBeNull()
  })

  it('where the object is known to be immutable, and not where one of another kind is', () => {
    expect(named(template(['agent']), ({ kind, name }) => kind === 'ConfigMap' && name === 'agent')).toEqual(['token'])
    expect(named(template(['agent']), ({ kind, name }) => kind === 'Secret' && name === 'agent')).toEqual(['agent', 'token'])
  })

  it('only for new pods where the template has a checksum annotation', () => {
    const found = judgeConfig(template(['agent'], { 'checksum/config': '9f86d081' }))
    expect(found).toMatchObject({ hasChecksum: true, references: [{ name: 'agent' }, { name: 'token' }] })
    expect(configText(found!)).toMatch(/; the checksum annotation only makes the change a release as well$/)
  })

  it.each([[{ 'checksum/config': '' }], [{ 'checksum/config': 7 }], [{ 'example.com/checksum': 'x' }], [{ checksum: 'x' }], [null]])(
    'and an annotation like %j is no checksum',
    (annotations) => {
      expect(judgeConfig(template(['agent'], annotations ?? undefined))?.hasChecksum).toBe(false)
    },
  )
})

describe('the text about config', () => {
  it('separates running pods from restarts', () => {
    expect(configText(judgeConfig(template(['agent']))!)).toBe(
      'a change of ConfigMap agent reaches running pods; a change of Secret token reaches containers as they restart, ' +
        'on every node and outside the batches of a release',
    )
  })

  it('names ten objects and counts the others, so that a template of any size gives a short text', () => {
    const names = Array.from({ length: 400 }, (_, at) => `${String(at).padStart(3, '0')}${'x'.repeat(247)}`)
    const text = configText(judgeConfig(template(names))!)
    expect(text).toContain(' and 390 more reaches running pods')
    expect(text.length).toBeLessThan(3_500)
  })
})
