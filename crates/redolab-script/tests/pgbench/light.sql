SELECT 'light', :client_id;
