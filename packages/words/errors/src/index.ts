export { AppError, isAppError, type ErrorDetails } from './app-error.ts'
export { errorCatalog, type ErrorCode, type Remedy } from './catalog.ts'
