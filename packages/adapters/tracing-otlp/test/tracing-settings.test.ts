import { readTracingSettings } from '@tranche/tracing-otlp'
import { describe, expect, it } from 'vitest'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' }

describe('the settings of traces', () => {
  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
  ])('are absent with %j', (env) => {
    expect(readTracingSettings(env)).toBeNull()
  })

  it.each([
    [{}, { url: 'http://collector.example:4318/v1/traces', protocol: 'http/protobuf', sampler: 'parentbased_always_on', ratio: 1 }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otel/' }, { url: 'https://c/otel/v1/traces' }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/own' }, { url: 'https://c/own' }],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      { sampler: 'traceidratio', ratio: 0.25 },
    ],
    [{ OTEL_SERVICE_NAME: 'blue' }, { serviceName: 'blue' }],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: '1000', OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2000' }, { timeoutMs: 2_000 }],
  ])('with %j are %j', (env, settings) => {
    expect(readTracingSettings({ ...ENDPOINT, ...env })).toMatchObject(settings)
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT does not take "collector:4318"'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:secret@c:1' }, 'OTEL_EXPORTER_OTLP_ENDPOINT does not take "http://…@c:1"'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL does not take "grpc"'],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER does not take "jaeger_remote"'],
    [{ OTEL_TRACES_SAMPLER_ARG: '25%' }, 'OTEL_TRACES_SAMPLER_ARG does not take "25%"'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER does not take "zipkin"'],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: '1.5' }, 'OTEL_BSP_MAX_QUEUE_SIZE does not take "1.5"'],
  ])('are refused with %j, by the name of the variable', (env, message) => {
    expect(() => readTracingSettings({ ...ENDPOINT, ...env })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message, hint: expect.stringMatching(/./) }),
    )
  })
})
