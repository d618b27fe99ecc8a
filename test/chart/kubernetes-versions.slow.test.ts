import { describe, expect, it } from 'vitest'
import { chart, helm, programs, render, type Rendered, type Values } from './chart.ts'
import { isBuiltIn, kubernetesVersions, problemsOf } from './kubernetes-apis.ts'
import { choices } from './values.ts'

/** Kinds of operators, whose schemas are not part of Kubernetes. */
const ofOperators = ['Certificate', 'HTTPRoute', 'Issuer', 'PrometheusRule', 'ServiceMonitor']

describe.skipIf(programs === null)('the chart on Kubernetes', () => {
  it.each(kubernetesVersions)('%s renders kinds and fields that this version has, with their types', async (version) => {
    const objects = await renderedFor(version)
    expect(objects.length).toBeGreaterThan(75)
    expect(objects.filter((one) => !isBuiltIn(one) && !ofOperators.includes(one.kind))).toEqual([])
    expect(objects.filter(isBuiltIn).flatMap((one) => problemsOf(one, version))).toEqual([])
  })

  it('renders every kind of its templates in some version', async () => {
    const kinds = new Set((await Promise.all(['1.28', '1.36'].map(renderedFor))).flat().map(({ kind }) => kind))
    expect([...kinds].filter((kind) => /Webhook|AdmissionPolicy/.test(kind)).toSorted()).toEqual([
      'MutatingAdmissionPolicy',
      'MutatingAdmissionPolicyBinding',
      'MutatingWebhookConfiguration',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      'ValidatingWebhookConfiguration',
    ])
    for (const kind of [...ofOperators, 'CustomResourceDefinition', 'Deployment', 'Ingress', 'PodDisruptionBudget'])
      expect(kinds).toContain(kind)
  })

  it('1.27 is rejected', async () => {
    const { code, stderr } = await helm(['template', 'tranche', chart, '--kube-version', '1.27.16'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('kubeVersion: >=1.28.0-0') as string })
  })
})

describe('the check of fields', () => {
  const pod = (spec: object): Rendered => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: spec as never })

  it.each<[string, Rendered, string, readonly string[]]>([
    [
      'an unknown field',
      pod({ containers: [{ name: 'a', imagePolicy: 'Always' }] }),
      '1.36',
      ['Pod.spec.containers[0].imagePolicy: is not in 1.36'],
    ],
    ['a missing field', pod({ containers: [{}] }), '1.36', ['Pod.spec.containers[0].name: is required']],
    [
      'a wrong type',
      pod({ containers: [], terminationGracePeriodSeconds: '30' }),
      '1.36',
      ['Pod.spec.terminationGracePeriodSeconds: is no integer'],
    ],
    ['no list', pod({ containers: {} }), '1.36', ['Pod.spec.containers: is no list']],
    ['a wrong type in a map', pod({ containers: [], nodeSelector: { a: 1 } }), '1.36', ['Pod.spec.nodeSelector.a: is no string']],
    [
      'a field of a newer version',
      pod({ containers: [{ name: 'a', lifecycle: { preStop: { sleep: { seconds: 5 } } } }] }),
      '1.28',
      ['Pod.spec.containers[0].lifecycle.preStop.sleep: is not in 1.28'],
    ],
    [
      'a kind of a newer version',
      { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'a' } },
      '1.29',
      ['admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy: is not in 1.29'],
    ],
    ['nothing else', pod({ containers: [{ name: 'a', lifecycle: { preStop: { sleep: { seconds: 5 } } } }] }), '1.29', []],
  ])('finds %s', (_what, object, version, problems) => {
    expect(problemsOf(object, version)).toEqual(problems)
  })
})

/** Objects with every option and with the defaults, each with the newest admission that the version allows. */
async function renderedFor(version: string): Promise<readonly Rendered[]> {
  const at = kubernetesVersions.indexOf(version)
  const isFrom = (first: string): boolean => at >= kubernetesVersions.indexOf(first)
  const webhook = isFrom('1.30') ? 'webhook' : 'none'
  const all: readonly Values[] = [
    {
      ...choices['every option'],
      rbac: {
        ...(choices['every option']?.['rbac'] as object),
        ...(isFrom('1.36') ? {} : { configPin: false, pinSecretNamespaces: [] }),
      },
      admission: webhook,
      ...(webhook === 'webhook' && { webhook: { certManager: { enabled: true } } }),
    },
    { admission: isFrom('1.36') ? 'policy' : 'none' },
  ]
  return (await Promise.all(all.map((values) => render(values, ['--kube-version', `${version}.0`])))).flat()
}
