import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type InstalledPod, toInstalledPod } from '../src/signs/installed-signs.ts'

interface DeploymentObject {
  readonly kind: string
  readonly spec: { readonly template: object }
}

/** Rendered manifests of the chart, as checked in. */
const templates = parseAllDocuments(readFileSync('test/chart/golden/distributed.yaml', 'utf8'))
  .map((document) => document.toJS() as DeploymentObject | null)
  .flatMap((object) => (object?.kind === 'Deployment' ? [object.spec.template] : []))
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

describe('the facts that doctor reads from a pod of the chart', () => {
  it('include its program, account, version and Redis', () => {
    const redis = { kind: 'url', url: 'redis://redis.storage:6379', hasPassword: false }
    expect(templates.map((template) => toInstalledPod(template as never))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ component: 'api', account: 'tranche-api', version, isReady: false, redis: null }),
        expect.objectContaining({ component: 'controller', account: 'tranche-controller', version, isReady: false, redis }),
        expect.objectContaining({ component: 'executor', account: 'tranche-executor', version, isReady: false, redis }),
      ]),
    )
    expect(templates).toHaveLength(3)
    expect(pod({ args: ['executor', '--workers=4'] })).toMatchObject({ namespace: 'tranche', args: ['executor', '--workers=4'] })
  })

  const labels = { 'app.kubernetes.io/component': 'executor', 'app.kubernetes.io/version': '0.1.0' }
  const pod = (container: object, metadata: object = {}): InstalledPod | null =>
    toInstalledPod({ metadata: { name: 'p', namespace: 'tranche', labels, ...metadata }, spec: { containers: [container] } } as never)

  it.each([
    ['images.example:5000/tranche:0.2.0', '0.2.0'],
    ['tranche:v0.2.0-rc.1@sha256:00', '0.2.0-rc.1'],
    ['images.example:5000/tranche@sha256:00', '0.1.0'],
    ['tranche:latest', '0.1.0'],
    ['tranche:1.2.3 with any text', '0.1.0'],
    [`tranche:1.2.3-${'x'.repeat(200)}`, '0.1.0'],
  ])('include the version in its image %s: %s, or in its label if the image has none', (image, expected) => {
    expect(pod({ image })?.version).toBe(expected)
  })

  it('include the name of the Secret with the Redis URL, without its content', () => {
    const env = [{ name: 'TRANCHE_REDIS_URL', valueFrom: { secretKeyRef: { name: 'redis', key: 'url' } } }]
    expect(pod({ env })?.redis).toEqual({ kind: 'secret', namespace: 'tranche', name: 'redis', key: 'url' })
  })

  // A quadratic search of an image of this length takes longer than any test may.
  it('are read from an image of any length, which a user may write', () => {
    for (const end of ['/', '@', ':', '']) expect(pod({ image: `x:1.1.${'1'.repeat(1_000_000)}${end}` })?.version).toBe('0.1.0')
  })

  it('are null for a pod with more arguments than the chart writes', () => {
    const args = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `--watch-namespace=namespace-${at}`)
    expect(pod({ args: args(1_000) })).not.toBeNull()
    expect(pod({ args: args(10_000) })).toBeNull()
    expect(pod({ args: [`--redis=redis://${'x'.repeat(1_000)}`] })?.redis).toMatchObject({
      url: expect.stringMatching(/^.{253}$/) as string,
    })
  })

  it('are null for a terminating pod and for another program', () => {
    expect(pod({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })).toBeNull()
    expect(pod({}, { labels: { ...labels, 'app.kubernetes.io/component': 'test' } })).toBeNull()
  })
})
