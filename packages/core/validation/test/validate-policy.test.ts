import type { Analysis, ReleasePolicySpec } from '@tranche/api-schema'
import { type Problem, problemText, validatePolicy } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { policyWith } from './policies.ts'

it('a policy is valid with unknown fields in its status, but not in its spec', () => {
  const policy = policyWith({})
  expect(validatePolicy({ ...policy, status: { tomorrow: 'x' } } as typeof policy)).toEqual([])
  expect(validatePolicy({ ...policy, spec: { tomorrow: 'x' } } as typeof policy)).toHaveLength(1)
})

const prometheus = { address: 'https://prometheus.example.com', query: 'up' }
const http = { url: 'https://canary.example.com/{{canaryRevision}}/health?nodes={{ nodes }}' }
const secret = { name: 'metrics', key: 'token' }

it('a policy is valid without any field, and with all fields', () => {
  expect(problems({})).toEqual([])
  expect(
    problems({
      nodes: {
        order: [
          { selector: { matchLabels: { 'example.com/canary': '' } } },
          { selector: { matchLabels: { pool: 'b' } }, by: 'Name' },
          { by: 'Newest' },
          { selector: {} },
        ],
        exclude: [
          {
            matchExpressions: [
              { key: 'pool', operator: 'In', values: ['gpu', ''] },
              { key: 'spot', operator: 'DoesNotExist' },
            ],
          },
        ],
        spread: [{ topologyKey: 'topology.kubernetes.io/zone', maxUnavailable: 1 }],
        notReady: { action: 'Wait', exempt: '5%' },
      },
      maxUnavailable: '10%',
      failure: {
        action: 'Pause',
        maxFailedNodes: '2%',
        maxFailedNodesPerBatch: 0,
        progressDeadlineSeconds: 1,
        schedulingDeadlineSeconds: 604_800,
        maxRestarts: 0,
        ignoreReasons: ['ErrImagePull'],
        onReapply: 'Revert',
        autoResume: '168h',
      },
      drain: {
        cordon: false,
        consumers: [
          { selector: { matchLabels: { 'example.com/uses-gpu': 'true' } } },
          { csiDriver: 'ebs.csi.aws.com' },
          { extendedResource: 'nvidia.com/gpu' },
        ],
        timeout: '24h',
        onTimeout: 'Continue',
      },
      soak: { step: '1h30m', final: '0s' },
      analysis: [
        {
          name: 'error-rate',
          background: true,
          prometheus: {
            ...prometheus,
            query: 'sum(rate(errors_total{node=~"{{nodes}}"}[{{window}}])) / {{ stepIndex }} > bool {{limit}}',
            range: '5m',
            step: '5s',
            headers: [
              { name: 'Authorization', valueFrom: secret },
              { name: 'X-Scope-OrgID', value: '{{namespace}}' },
            ],
          },
          failureCondition: 'result.exists(x, x > double(args.limit)) && args.daemonSet != ""',
          args: [
            { name: 'window', value: '5m' },
            { name: 'limit', value: '0.5' },
          ],
          failureLimit: 3,
          dryRun: true,
        },
        {
          name: 'health',
          steps: [1, 50],
          http: { ...http, method: 'POST', body: '{"of":{"step":{{stepIndex}}}}' },
          successCondition: 'status == 200 && result.checks.all(c, c.ok)',
          initialDelay: '0s',
          interval: '1s',
          timeout: '100ms',
          count: 10_000,
          failureLimit: 9_999,
          inconclusiveLimit: 10_000,
          consecutiveErrorLimit: 0,
        },
      ],
      notify: [
        { name: 'chat', slack: { url: { name: 'slack', key: 'url' } }, events: ['StepPaused', 'Reminder'], remindAfter: '30m' },
        {
          name: 'others',
          webhook: { url: 'http://10.0.0.1:8080/x', hmac: secret, headers: [{ name: 'X-Team', value: 'a\tb é' }] },
          template: '{{message}}',
        },
      ],
    }),
  ).toEqual([])
})

describe('each problem has field, value, rule and fix:', () => {
  it.each<[string, unknown, readonly string[]]>([
    [
      'an order without a key',
      { nodes: { order: [{}] } },
      ['spec.nodes.order[0].selector is missing: an entry must have selector, by, or both; add selector or by'],
    ],
    [
      'an unknown enum value',
      { failure: { action: 'Rollbak' } },
      [
        'spec.failure.action is "Rollbak": invalid option: expected one of "Pause"|"Rollback"|"Continue"; set it to Pause, Rollback or Continue',
      ],
    ],
    [
      'an unknown field',
      { failures: {} },
      ['spec.failures is {}: no such field exists, and the API server would drop it; remove it, or correct its name'],
    ],
    [
      'a percentage above 100%',
      { maxUnavailable: '101%' },
      ['spec.maxUnavailable is "101%": it must be a whole number of nodes or a percentage up to 100%'],
    ],
    ['a budget of zero', { maxUnavailable: '0%' }, ['spec.maxUnavailable is "0%": the budget is zero nodes']],
    ['a time without a unit', { soak: { step: '30' } }, ['spec.soak.step is "30": a duration must have a unit: ms, s, m or h; set it to']],
    [
      'a time that is too long',
      { soak: { final: '25h' } },
      ['spec.soak.final is "25h": it must be from 0s to 24h; set it to a duration from 0s to 24h'],
    ],
    [
      'a deadline of zero',
      { failure: { progressDeadlineSeconds: 0 } },
      ['spec.failure.progressDeadlineSeconds is 0: it must be a whole number from 1 to 604800; set it to a whole number from 1 to 604800'],
    ],
    [
      'a selector without values for In',
      { nodes: { order: [{ selector: { matchExpressions: [{ key: 'pool', operator: 'NotIn', values: [] }] } }] } },
      ['spec.nodes.order[0].selector.matchExpressions[0].values is []: NotIn needs values; list at least one value'],
    ],
    [
      'a selector with values for Exists',
      { nodes: { exclude: [{ matchExpressions: [{ key: 'pool', operator: 'Exists', values: ['a'] }] }] } },
      ['spec.nodes.exclude[0].matchExpressions[0].values is ["a"]: Exists takes no values; remove it'],
    ],
    [
      'an unknown operator',
      { nodes: { exclude: [{ matchExpressions: [{ key: 'pool', operator: 'Gt', values: ['1'] }] }] } },
      ['spec.nodes.exclude[0].matchExpressions[0].operator is "Gt": invalid option'],
    ],
    [
      'invalid labels',
      { nodes: { exclude: [{ matchLabels: { 'a//b': 'x', c: 'not this' } }] } },
      [
        'spec.nodes.exclude[0].matchLabels is "a//b": it is not a valid label key',
        'spec.nodes.exclude[0].matchLabels[c] is "not this": a label value has up to',
      ],
    ],
    [
      'an order entry without effect',
      { nodes: { order: [{ by: 'Name' }, { selector: { matchLabels: { a: 'b' } } }] } },
      ['spec.nodes.order[1].selector is {"matchLabels":{"a":"b"}}: an entry after Name, or an age after Oldest or Newest, has no effect'],
    ],
    [
      'a spread that is listed twice',
      {
        nodes: {
          spread: [
            { topologyKey: 'rack', maxUnavailable: 0 },
            { topologyKey: 'rack', maxUnavailable: 2 },
          ],
        },
      },
      [
        'spec.nodes.spread[0].maxUnavailable is 0: it must be a whole number from 1',
        'spec.nodes.spread[1].topologyKey is "rack": the label is listed twice',
      ],
    ],
    [
      'images that no node may pull, for no time',
      { prePull: { parallel: 0, timeout: '0s' } },
      ['spec.prePull.parallel is 0: it must be a whole number from 1', 'spec.prePull.timeout is "0s": it must be from 1s to 24h'],
    ],
    ['no downtime at all', { downtime: { perDay: '0s' } }, ['spec.downtime.perDay is "0s": it must be from 1s to 12h']],
    [
      'a day of downtime',
      { downtime: { perDay: '24h' } },
      ['spec.downtime.perDay is "24h": it must be from 1s to 12h; set it to a duration'],
    ],
    ['downtime without a unit', { downtime: { perDay: '600' } }, ['spec.downtime.perDay is "600": a duration must have a unit']],
    ['a time to pull without a unit', { prePull: { timeout: '10' } }, ['spec.prePull.timeout is "10": a duration must have a unit']],
    [
      'an automatic resume without a pause',
      { failure: { action: 'Continue', autoResume: '1m' } },
      [
        'spec.failure.autoResume is "1m": only a release that pauses can resume by itself, and spec.failure.action is Continue; remove it, or set',
      ],
    ],
    [
      'a drain that neither cordons nor evicts',
      { drain: { cordon: false, consumers: [] } },
      ['spec.drain.consumers is []: without consumers and without cordon there is nothing to do before a pod is deleted; name consumers'],
    ],
    [
      'a consumer of two kinds, and one of none',
      { drain: { consumers: [{ csiDriver: 'a.example', extendedResource: 'a.example/gpu' }, {}] } },
      [
        'spec.drain.consumers[0] is {"csiDriver":"a.example","extendedResource":"a.example/gpu"}: a consumer must have exactly one of selector',
        'spec.drain.consumers[1] is {}: a consumer must have exactly one of selector, csiDriver and extendedResource; keep one of them',
      ],
    ],
    [
      'consumers that match every pod',
      { drain: { consumers: [{ selector: {} }, { extendedResource: 'cpu' }, { extendedResource: 'attachable.kubernetes.io/x' }] } },
      [
        'spec.drain.consumers[0].selector is {}: an empty selector matches every pod, so every pod of a node would be evicted; add',
        'spec.drain.consumers[1].extendedResource is "cpu": it must be an extended resource: a name with a domain other than kubernetes.io',
        'spec.drain.consumers[2].extendedResource is "attachable.kubernetes.io/x": it must be an extended resource',
      ],
    ],
    [
      'consumers that Kubernetes does not know',
      { drain: { consumers: [{ csiDriver: 'ebs csi' }, { selector: { matchLabels: { 'a//b': 'x' } } }], timeout: '1s' } },
      [
        'spec.drain.consumers[0].csiDriver is "ebs csi": it must be the name of a CSI driver',
        'spec.drain.consumers[1].selector.matchLabels is "a//b": it is not a valid label key',
        'spec.drain.timeout is "1s": it must be from 10s to 24h',
      ],
    ],
    [
      'a receiver with two targets, and one without',
      { notify: [{ name: 'a', slack: { url: secret }, webhook: { url: 'https://x.example' } }, { name: 'b' }] },
      [
        'spec.notify[0].webhook is {"url":"https://x.example"}: a receiver must be either slack or webhook; keep one of the two, or write two receivers',
        'spec.notify[1].webhook is missing: a receiver must be either slack or webhook; add slack or webhook',
      ],
    ],
    [
      'a reminder without a time, and a time without a reminder',
      {
        notify: [
          { name: 'a', slack: { url: secret }, events: ['Reminder'] },
          { name: 'b', slack: { url: secret }, events: ['Stalled'], remindAfter: '5m' },
        ],
      },
      [
        'spec.notify[0].remindAfter is missing: events lists Reminder, which needs remindAfter',
        'spec.notify[1].remindAfter is "5m": events does not list Reminder, so no reminder is sent',
      ],
    ],
    [
      'a name that another receiver has',
      {
        notify: [
          { name: 'a', slack: { url: secret } },
          { name: 'a', slack: { url: secret } },
        ],
      },
      ['spec.notify[1].name is "a": another receiver has this name'],
    ],
    [
      'an invalid Secret reference',
      { notify: [{ name: 'a', slack: { url: { name: 'My Secret', key: 'a/b' } } }] },
      [
        'spec.notify[0].slack.url.name is "My Secret": it must be a valid Secret name',
        'spec.notify[0].slack.url.key is "a/b": it must be a valid key of a Secret',
      ],
    ],
    [
      'an unknown argument',
      { notify: [{ name: 'a', slack: { url: secret }, template: '{{mesage}} {{' }] },
      [
        'spec.notify[0].template is "{{mesage}} {{": the argument mesage does not exist; name one of event, rollout',
        'spec.notify[0].template is "{{mesage}} {{": a {{ is not followed by a name and }}',
      ],
    ],
    ['a value that is no policy', undefined, ['spec is missing: it is required']],
  ])('%s', (_name, spec, texts) => expectTexts(validatePolicy(policyWith(spec as ReleasePolicySpec)), texts))
})

describe('an analysis is invalid', () => {
  it.each<[string, object, readonly string[]]>([
    [
      'without a source',
      { prometheus: undefined },
      ['spec.analysis[0].prometheus is missing: an analysis must query either prometheus or http; add prometheus or http'],
    ],
    [
      'with two sources',
      { http: { url: 'https://a.example' } },
      ['spec.analysis[0].http is {"url":"https://a.example"}: an analysis must query either prometheus or http; keep one'],
    ],
    [
      'without a condition',
      { successCondition: undefined },
      ['spec.analysis[0].successCondition is missing: an analysis without a condition can neither pass nor fail; add'],
    ],
    [
      'with a condition that ends too early',
      { successCondition: 'result[0] <' },
      ['spec.analysis[0].successCondition is "result[0] <": the condition is invalid: Syntax error'],
    ],
    [
      'with an unknown name in a condition',
      { successCondition: 'results[0] < 1' },
      ["the condition is invalid: undeclared reference to 'results' (in container ''), at character 1"],
    ],
    ['with an unknown argument in a condition', { successCondition: 'args.windw == ""' }, ["undefined field 'windw', at character 5"]],
    ['with a condition of two lines', { successCondition: 'true &&\n  args.x == ""' }, ["undefined field 'x', at line 2, character 7"]],
    ['with a condition that compares numbers with text', { successCondition: 'result[0] < "1"' }, ['found no matching overload']],
    [
      'with a condition that is not true or false',
      { failureCondition: 'result[0]' },
      ['the condition is invalid: it is a double, and a condition must be true or false'],
    ],
    ['with an empty condition', { failureCondition: '' }, ['spec.analysis[0].failureCondition is "": it is empty']],
    [
      'with an unknown PromQL function',
      { prometheus: { ...prometheus, query: 'rat(errors[5m])' } },
      ['query is "rat(errors[5m])": PromQL has no function rat; correct the query'],
    ],
    [
      'with a query that ends too early',
      { prometheus: { ...prometheus, query: 'sum(up' } },
      ['query is "sum(up": the query is incomplete'],
    ],
    [
      'with a syntax error in a query',
      { prometheus: { ...prometheus, query: 'up{a=b}' } },
      ['query is "up{a=b}": unexpected "b}" at character 6'],
    ],
    [
      'with a syntax error from an argument in a query',
      { prometheus: { ...prometheus, query: 'rate(up[{{window}}])' }, args: [{ name: 'window', value: 'five minutes' }] },
      ['after its arguments are filled in, unexpected "five minutes])" at character 9'],
    ],
    [
      'with an unknown argument in a query',
      { prometheus: { ...prometheus, query: 'up{a="{{revision}}"}' } },
      ['the argument revision does not exist; name one of namespace, rollout'],
    ],
    [
      'with an invalid address',
      { prometheus: { ...prometheus, address: 'prometheus:9090' } },
      ['address is "prometheus:9090": a URL must begin with http:// or https://'],
    ],
    [
      'with an address of another protocol',
      { prometheus: { ...prometheus, address: 'file:///etc/passwd' } },
      ['address is "file:///etc/passwd": a URL must begin with http://'],
    ],
    [
      'with an address that has a path or query',
      { prometheus: { ...prometheus, address: 'http://p:9090/api/v1/query' } },
      ['Tranche appends /api/v1 itself; remove /api/v1'],
    ],
    [
      'with a password in a URL',
      { prometheus: { ...prometheus, address: 'http://me:secret@p:9090' } },
      ['every user who may read the policy can read the user and the password in the URL'],
    ],
    [
      'with a host that is an argument',
      ofHttp({ url: 'https://{{rollout}}.example.com' }),
      ['the host cannot be an argument; write the host itself'],
    ],
    [
      'with a body in a GET',
      ofHttp({ url: 'https://a.example', body: 'x' }),
      ['spec.analysis[0].http.body is "x": a GET has no body; remove it, or set method to POST'],
    ],
    [
      'with headers that cannot be sent',
      ofHttp({
        url: 'https://a.example',
        headers: [
          { name: 'Host', value: 'x' },
          { name: 'a b', value: 'x' },
          { name: 'X', value: 'a\nb' },
          { name: 'x', valueFrom: secret, value: '' },
        ],
      }),
      [
        'headers[0].name is "Host": the HTTP client sets this header itself',
        'headers[1].name is "a b": it is not a valid header name',
        'headers[2].value is "3 characters": a header value must be one line',
        'headers[3].valueFrom is {"name":"metrics","key":"token"}: a header must have either value or valueFrom',
        'headers[3].name is "x": the header is listed twice',
      ],
    ],
    [
      'with more points than Prometheus returns',
      { prometheus: { ...prometheus, range: '24h', step: '1s' } },
      ['a range of 24h has 86,400 points at this interval'],
    ],
    ['with a step but no range', { prometheus: { ...prometheus, step: '1s' } }, ['step is "1s": step needs a range; add range']],
    [
      'with steps of a background analysis',
      { background: true, steps: [1] },
      ['spec.analysis[0].steps is [1]: a background analysis runs in all steps'],
    ],
    ['with invalid steps', { steps: [1, 0, 1] }, ['steps[1] is 0: steps are numbered from 1', 'steps[2] is 1: the step is listed twice']],
    [
      'that never runs',
      { steps: [] },
      ['spec.analysis[0].steps is []: the list is empty, so the analysis would never run; list steps, or remove it'],
    ],
    [
      'that can never fail',
      { failureLimit: 1 },
      ['failureLimit is 1: the limit is not below one measurement, so the analysis can never fail; set it to less than count'],
    ],
    ['that measures too often', { interval: '10ms' }, ['spec.analysis[0].interval is "10ms": it must be from 1s to 24h']],
    [
      'whose argument has a name that is taken',
      { args: [{ name: 'nodes', value: '' }] },
      ['args[0].name is "nodes": another argument has this name'],
    ],
    [
      'whose argument has an invalid name',
      { args: [{ name: 'the-limit', value: '' }] },
      ['args[0].name is "the-limit": it must have letters'],
    ],
  ])('%s', (_name, changes, texts) => {
    const analysis = { name: 'error-rate', prometheus, successCondition: 'result[0] < 1', ...changes } as Analysis
    expectTexts(validatePolicy(policyWith({ analysis: [analysis] })), texts)
  })

  it('without the values of its headers', () => {
    const headers = [{ name: 'Authorization', value: 'Bearer abc\u0000{{x}}' }]
    const found = problems({ analysis: [{ name: 'a', http: { url: 'https://a.example', headers }, successCondition: 'true' }] })
    expect(found).toHaveLength(2)
    expect(found.join('\n')).not.toContain('abc')
  })
})

it('all problems are reported at once', () => {
  const found = validatePolicy(
    policyWith({
      nodes: { exclude: [{}] },
      maxUnavailable: 0,
      failure: { action: 'Stop', maxRestarts: -1 },
      soak: { step: 'long' },
      analysis: [{ name: 'A', successCondition: '(' }],
      notify: [{ name: 'a', events: [] }],
      colour: 'blue',
    } as unknown as ReleasePolicySpec),
  )
  expect(found.map(({ path }) => path)).toEqual([
    'spec.failure.action',
    'spec.colour',
    'spec.nodes.exclude[0]',
    'spec.maxUnavailable',
    'spec.failure.maxRestarts',
    'spec.soak.step',
    'spec.analysis[0].name',
    'spec.analysis[0].prometheus',
    'spec.analysis[0].successCondition',
    'spec.notify[0].webhook',
    'spec.notify[0].events',
  ])
})

function ofHttp(request: NonNullable<Analysis['http']>): object {
  return { prometheus: undefined, http: request, successCondition: 'result.ok' }
}

function problems(spec: ReleasePolicySpec): readonly string[] {
  return validatePolicy(policyWith(spec)).map(problemText)
}

function expectTexts(found: readonly Problem[], texts: readonly string[]): void {
  expect(found.map(problemText)).toEqual(texts.map((text) => expect.stringContaining(text)))
}
