// The suffixes of `<noun>.<role>.ts`. A file of src without one is pure. For ESLint and dependency-cruiser.
module.exports = (
  'module controller service repository processor queue client guard strategy decorator filter interceptor pipe ' +
  'subscriber resolver launcher command migration entity dto sweeper'
).split(' ');
