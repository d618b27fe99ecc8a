export { analysisVerdict, type AnalysisVerdict, runText } from './analysis-verdict.ts'
export { argumentValues, type ArgumentSource } from './argument-values.ts'
export {
  fitForStatus,
  judgeAnswer,
  type JudgedAnswer,
  judgeQuickly,
  type MetricAnswer,
  type RawAnswer,
  type RawOutcome,
} from './judge-answer.ts'
export { type AnalysisPlan, type AnalysisView, type DueMeasurement, planAnalyses } from './plan-analyses.ts'
export { prometheusSamples, type Samples } from './prometheus-samples.ts'
export { type MeasurementOutcome, recordMeasurement } from './record-measurement.ts'
export { analysisDigest, analysisOf } from './run-identity.ts'
export { runsPatch } from './runs-patch.ts'
export { stepAnalyses, type StepAnalyses } from './step-analyses.ts'
export { type MetricRequest, type PrivateHeader, requestFault, toRequest } from './to-request.ts'
