{{- define "webhooks.name" -}}
{{- $isNamed := contains .Chart.Name .Release.Name -}}
{{ ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) $isNamed | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "webhooks.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "webhooks.labels" -}}
{{ include "webhooks.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* A number as Helm reads it would become 1e+07, and Kubernetes expands $(NAME). */}}
{{- define "webhooks.text" -}}
{{ if kindIs "string" . }}{{ . | replace "$" "$$" | toJson }}{{ else }}{{ . | toJson | quote }}{{ end }}
{{- end }}

{{/* What the pods of both roles and of the migration have in common. */}}
{{- define "webhooks.pod" -}}
automountServiceAccountToken: false
# The variables of a Service named "metrics" would set METRICS_PORT.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- range $setting, $secret := .Values.secrets }}
        - secret:
            name: {{ $secret.name }}
            items:
              - key: {{ $secret.key }}
                path: {{ $setting }}
        {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "webhooks.container" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
image: {{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ $tag }}{{ end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: tmp
    mountPath: /tmp
  - name: secrets
    mountPath: /etc/webhooks/secrets
    readOnly: true
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "webhooks.env" -}}
{{- range $setting, $_ := .Values.secrets }}
- name: {{ $setting }}_FILE
  value: /etc/webhooks/secrets/{{ $setting }}
{{- end }}
{{- range $setting, $value := .Values.settings }}
- name: {{ $setting }}
  value: {{ include "webhooks.text" $value }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
