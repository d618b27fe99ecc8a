import { type ConfigSource, copyName, hasContentHash, parsePins, pinPatch, pinsText, toCopy } from '@tranche/config'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const owner = { namespace: 'demo', name: 'agent', uid: 'd1' }
const source: ConfigSource = { kind: 'ConfigMap', name: 'agent', uid: 'u1', resourceVersion: '5', data: { a: '1', b: '2' } }
const nameOf = (more: Partial<ConfigSource>, uid = 'd1'): string => copyName({ ...source, ...more }, { ...owner, uid })

describe('a copy', () => {
  it('is immutable, holds the content, and belongs to the DaemonSet', () => {
    expect(toCopy({ ...source, kind: 'Secret', type: 'Opaque' }, owner)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: 'demo',
        name: expect.stringMatching(/^agent-[0-9a-f]{16}$/),
        labels: { 'tranche.dev/config-of': 'd1' },
        annotations: { 'tranche.dev/copy-of': 'agent' },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'd1' }],
      },
      immutable: true,
      type: 'Opaque',
      data: { a: '1', b: '2' },
    })
  })

  it.each<[sentence: string, name: string]>([
    ['another content', nameOf({ data: { a: '1', b: '3' } })],
    ['binary content', nameOf({ data: {}, binaryData: { a: '1', b: '2' } })],
    ['another DaemonSet', nameOf({}, 'd2')],
    ['another name of the source', nameOf({ name: 'agent2' })],
    ['another kind', nameOf({ kind: 'Secret' })],
  ])('has another name for %s', (_sentence, name) => {
    expect(name).not.toBe(nameOf({}))
  })

  it('of a ConfigMap has the same name for the same content, whatever the order and version', () => {
    expect(nameOf({ data: { b: '2', a: '1' }, resourceVersion: '9', uid: 'u2', binaryData: {} })).toBe(nameOf({}))
  })

  it('of a Secret has a name that says nothing about its content', () => {
    expect(nameOf({ kind: 'Secret', data: { a: 'x' } })).toBe(nameOf({ kind: 'Secret' }))
    expect(nameOf({ kind: 'Secret', resourceVersion: '6' })).not.toBe(nameOf({ kind: 'Secret' }))
  })

  it('has a valid name that carries a hash, for every valid name of a source', () => {
    const part = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
    const names = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) =>
      parts
        .join('.')
        .slice(0, 253)
        .replace(/[-.]+$/, ''),
    )
    fc.assert(
      fc.property(names, (name) => {
        const copy = nameOf({ name })
        expect(copy.length).toBeLessThanOrEqual(253)
        expect(copy).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
        expect(hasContentHash(copy) || !/\d/.test(copy.slice(-16))).toBe(true)
      }),
    )
  })
})

describe('the text of pins', () => {
  it('is read as it was written, in one order', () => {
    const pins = new Map([
      ['Secret/s', 's-1'],
      ['ConfigMap/a.b', 'a.b-2'],
    ])
    expect(pinsText(pins)).toBe('ConfigMap/a.b=a.b-2,Secret/s=s-1')
    expect(parsePins(pinsText(pins))).toEqual(pins)
  })

  it.each([
    '',
    'x',
    'Pod/a=b',
    'ConfigMap/a',
    'ConfigMap/a=',
    'ConfigMap/=b',
    'ConfigMap/a=b=c',
    'ConfigMap/A=b',
    'ConfigMap/a=b c',
    'ConfigMap/a/b=c',
  ])('ignores an entry of another form: %j', (text) => {
    expect([...parsePins(`${text},Secret/s=s-1`)]).toEqual([['Secret/s', 's-1']])
  })

  it('takes the first of two entries for one object', () => {
    expect([...parsePins('ConfigMap/a=a-1,ConfigMap/a=a-2')]).toEqual([['ConfigMap/a', 'a-1']])
  })
})

describe('the patch of a pod', () => {
  const pins = parsePins('ConfigMap/agent=agent-1,Secret/token=token-2')

  it('replaces each name at its place, in all kinds of references and containers, and no other field', () => {
    const spec = {
      volumes: [
        { name: 'x', emptyDir: {} },
        { name: 'c', configMap: { name: 'agent', items: [{ key: 'a', path: 'agent' }] } },
        { name: 's', secret: { secretName: 'token' } },
        {
          name: 'p',
          projected: { sources: [{ serviceAccountToken: {} }, { secret: { name: 'token' } }, { configMap: { name: 'other' } }] },
        },
        { name: 'd', csi: { driver: 'vault', nodePublishSecretRef: { name: 'token' } } },
      ],
      initContainers: [{ name: 'agent', envFrom: [{ configMapRef: { name: 'agent' } }] }],
      containers: [
        {
          name: 'agent',
          env: [
            { name: 'agent', value: 'agent' },
            { name: 'T', valueFrom: { secretKeyRef: { name: 'token', key: 'token' } } },
          ],
        },
      ],
      imagePullSecrets: [{ name: 'token' }],
    }
    expect(pinPatch(spec, pins)).toEqual([
      { op: 'replace', path: '/spec/volumes/1/configMap/name', value: 'agent-1' },
      { op: 'replace', path: '/spec/volumes/2/secret/secretName', value: 'token-2' },
      { op: 'replace', path: '/spec/volumes/3/projected/sources/1/secret/name', value: 'token-2' },
      { op: 'replace', path: '/spec/initContainers/0/envFrom/0/configMapRef/name', value: 'agent-1' },
      { op: 'replace', path: '/spec/containers/0/env/1/valueFrom/secretKeyRef/name', value: 'token-2' },
    ])
  })

  it('is empty without pins, and for a pod that was patched', () => {
    const spec = { containers: [{ envFrom: [{ configMapRef: { name: 'agent' } }] }] }
    expect(pinPatch(spec, new Map())).toEqual([])
    expect(pinPatch({ containers: [{ envFrom: [{ configMapRef: { name: 'agent-1' } }] }] }, pins)).toEqual([])
  })
})
