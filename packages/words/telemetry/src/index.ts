export { silentLogger, type LogFields, type Logger } from './logger.ts'
export { createObjectFaults, type ObjectFaults } from './object-faults.ts'
export { formatTraceContext, parseTraceContext, type TraceContext, type TracePlace } from './trace-context.ts'
export {
  type EntryOptions,
  noSpan,
  noTracer,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type SpanOptions,
  type Tracer,
} from './tracer.ts'
