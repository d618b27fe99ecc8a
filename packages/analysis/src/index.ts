export { analysisVerdict, type AnalysisVerdict } from './analysis-verdict.ts'
export { analysisDigest } from './run-identity.ts'
export { stepAnalyses, type StepAnalyses } from './step-analyses.ts'
