export { createOtlpTracer, type OtlpTracer, type OtlpTracerOptions } from './otlp-tracer.ts'
export { readTracingSettings, type SamplerName, type TracingSettings } from './tracing-settings.ts'
