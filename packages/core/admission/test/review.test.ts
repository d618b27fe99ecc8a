import { admissionWebhooks, answerReview, decideReview, readReview, type WebhookName } from '@tranche/admission'
import { canonicalJson } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { daemonSet, releaseKeys, rollout } from './objects.ts'

const nothing = { refused: [], rollout: null }

describe('a review', () => {
  it.each<[string, string]>([
    ['no JSON', '{'],
    ['no review', '{"kind":"Pod","apiVersion":"v1"}'],
    ['an older review', JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1beta1', request: { uid: 'u' } })],
    ['no request', JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' })],
    ['an object without metadata', review({ object: {} })],
    ['a list in place of an object', review({ object: [] })],
  ])('is undefined for %s', (_what, text) => expect(readReview(text)).toBeUndefined())

  it('is decided by the binding of the DaemonSet, whether its Rollout is known or not', () => {
    const annotations = { 'tranche.dev/rollout': 'node-agent' }
    const text = review({ oldObject: daemonSet({ annotations }), object: daemonSet({ image: 'agent:v2' }) })
    const request = readReview(text)!
    const answers = [null, rollout()].map((known) => decideReview('daemonsets', request, { refused: [], rollout: known }))
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject({
      kind: 'patch',
      patch: expect.arrayContaining([{ op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' }]) as unknown,
    })
  })

  it('has the digits of integers that a number cannot hold, as the recorded digest of a template has them', () => {
    const text = review({ object: daemonSet({ annotations: { seconds: '0' } }) }).replace('"seconds":"0"', '"seconds":9007199254740993')
    expect(canonicalJson(readReview(text)?.object)).toContain('"seconds":9007199254740993')
  })

  it('warns of a Rollout that will not start', () => {
    const annotations = { 'tranche.dev/rollout': 'node-agent' }
    const request = readReview(review({ oldObject: daemonSet({ annotations }), object: daemonSet({ image: 'agent:v2', annotations }) }))!
    const wrong = rollout({}, { strategy: { canary: { steps: [] } } })
    const { warnings } = decideReview('daemonsets', request, { refused: [], rollout: wrong }) as { readonly warnings: readonly string[] }
    expect(warnings).toEqual([expect.stringMatching(/^the release will not start: spec\.strategy\.canary\.steps/)])
  })

  it.each<[string, object]>([
    ['an unbound DaemonSet', { oldObject: daemonSet({ annotations: {} }) }],
    ['a write of the controller', { options: { fieldManager: 'tranche-controller' } }],
    ['an object that the API server will reject', { object: { metadata: daemonSet().metadata, spec: null } }],
    ['a deletion', { operation: 'DELETE', object: null }],
  ])('allows %s', (_what, fields) => {
    const bound = { oldObject: daemonSet({ annotations: releaseKeys }), object: daemonSet({ image: 'agent:v2' }), ...fields }
    expect(decideReview('daemonsets', readReview(review(bound))!, nothing)).toEqual({ kind: 'allow', warnings: [] })
  })

  describe('with values nested thousands of levels deep', () => {
    const deep = (levels = 9_900): string => `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`
    const withDeep = (text: string, levels?: number): string => text.replaceAll('"deep-marker"', deep(levels))
    const deepRollout = { ...rollout(), free: 'deep-marker' }
    const names: readonly WebhookName[] = ['daemonsets', 'reapply', 'rollouts', 'rollout-status']

    it.each(names)('is denied by the webhook %s where the request adds them, so that no failure allows it', (name) => {
      for (const oldObject of [rollout(), null]) {
        const request = readReview(
          withDeep(review({ operation: oldObject === null ? 'CREATE' : 'UPDATE', oldObject, object: deepRollout })),
        )!
        expect(decideReview(name, request, nothing)).toEqual({
          kind: 'deny',
          message: 'the object has objects and lists nested more than 100 deep; use fewer levels',
          causes: [],
        })
      }
    })

    it('is decided without them where the object had them before, so that it can be paused and repaired', () => {
      const status = { free: 'deep-marker' }
      const before = { ...rollout(), status }
      for (const object of [{ ...rollout({}, { strategy: { ...rollout().spec.strategy, paused: true } }), status }, rollout()]) {
        const request = readReview(withDeep(review({ oldObject: before, object })))!
        const shallow = readReview(review({ oldObject: { ...before, status: {} }, object: { ...object, status: {} } }))!
        expect(decideReview('rollouts', request, nothing)).toEqual(decideReview('rollouts', shallow, nothing))
      }
    })

    it('is decided as any other up to 100 levels', () => {
      const request = readReview(withDeep(review({ oldObject: rollout(), object: { ...rollout(), free: 'deep-marker' } }), 98))!
      expect(decideReview('rollouts', request, nothing)).toMatchObject({ kind: 'allow' })
    })
  })

  it('is answered with the changes, in any script', () => {
    const patch = [{ op: 'add', path: '/metadata/annotations', value: { owner: 'Zoë – 東京' } }] as const
    const { response } = answerReview({ uid: 'u' }, { kind: 'patch', patch, warnings: ['said'] }) as Answer
    expect(response).toMatchObject({ uid: 'u', allowed: true, patchType: 'JSONPatch', warnings: ['said'] })
    expect(JSON.parse(Buffer.from(response.patch!, 'base64').toString())).toEqual(patch)
  })

  it('is answered with the problems, field by field', () => {
    const wrong = rollout({}, { strategy: { canary: { steps: [] } } })
    const request = readReview(review({ operation: 'CREATE', oldObject: null, object: wrong }))!
    const { response } = answerReview(request, decideReview('rollouts', request, nothing)) as Answer
    expect(response).toMatchObject({
      allowed: false,
      status: { code: 422, reason: 'Invalid', details: { causes: [{ field: 'spec.strategy.canary.steps' }] } },
    })
  })
})

describe('our webhooks', () => {
  const of = (name: WebhookName) => admissionWebhooks.find((one) => one.name === name)!.webhook

  it('allow writes without a response, except a release of a bound DaemonSet that would start natively (X21)', () => {
    expect(admissionWebhooks.map(({ name, webhook }) => [name, webhook['failurePolicy']])).toEqual([
      ['daemonsets', 'Fail'],
      ['reapply', 'Ignore'],
      ['rollouts', 'Ignore'],
      ['rollout-status', 'Ignore'],
    ])
    expect(of('daemonsets')).toMatchObject({
      objectSelector: { matchLabels: { 'rollouts.kruise.io/workload-type': 'daemonset' } },
      rules: [{ operations: ['UPDATE'], resources: ['daemonsets'] }],
    })
  })

  it('have no side effects, so that dry runs may call them', () => {
    for (const { webhook } of admissionWebhooks) expect(webhook).toMatchObject({ sideEffects: 'None', admissionReviewVersions: ['v1'] })
  })
})

interface Answer {
  readonly response: { readonly uid: string; readonly patch?: string }
}

function review(fields: object): string {
  const request = { uid: 'u', operation: 'UPDATE', namespace: 'demo', oldObject: daemonSet(), object: daemonSet(), ...fields }
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request })
}
